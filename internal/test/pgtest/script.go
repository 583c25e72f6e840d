package pgtest

// script runs postgres ($2…) in the directory $1 and obeys the lines of descriptor 3:
// each is a signal. When they end without "over", the test process is gone, and so is all
// this. The files tell the test process what its descriptors cannot: that postgres ended.
//
// postgres is a child and not exec'd, because only a parent can wait for its end surely,
// in containers, too, where nobody collects orphans.
const script = `
dir=$1; shift
rm -f "$dir/ended" "$dir/orphaned"
"$@" 3<&- &
postgres=$!
{
	while read -r signal <&3; do
		[ "$signal" = over ] && exit
		kill -s "$signal" "$postgres"
	done
	[ -e "$dir/ended" ] && exit
	: >"$dir/orphaned"
	kill -s QUIT "$postgres"
} &
wait "$postgres"
code=$?
if [ -e "$dir/orphaned" ]; then
	rm -rf "$dir" || true # its parent may be somebody else's
else
	echo "$code" >"$dir/ended"
fi
`
