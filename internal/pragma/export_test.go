package pragma

// CheckVersion is tested with versions that no driver has any more.
var CheckVersion = checkVersion
