package main

// product is a thing on sale. What it costs and is called belongs to the program; how
// many are left belongs to the database.
type product struct {
	ID    string
	Price int64 // won
	Stock int64 // at the very first start
	name  [2]string
	about [2]string
}

func (p product) Name(l lang) string  { return p.name[l] }
func (p product) About(l lang) string { return p.about[l] }

var catalogue = []product{
	{"cup", 28_000, 500, [2]string{"Celadon cup", "청자 잔"}, [2]string{"Wheel-thrown, with a crackle glaze.", "물레로 빚어 빙렬을 살린 잔."}},
	{"notebook", 12_000, 500, [2]string{"Hanji notebook", "한지 공책"}, [2]string{"Mulberry paper, sewn by hand.", "닥종이를 손으로 꿰맨 공책."}},
	{"tea", 9_000, 500, [2]string{"First-flush tea", "우전 녹차"}, [2]string{"Picked before the spring rain, 40 g.", "곡우 전에 딴 잎, 40 g."}},
	{"spoon", 19_000, 500, [2]string{"Brass spoon", "방짜 숟가락"}, [2]string{"Hammered; it warms with the soup.", "두드려 만들어 국과 함께 따뜻해집니다."}},
}

func productByID(id string) (product, bool) {
	for _, p := range catalogue {
		if p.ID == id {
			return p, true
		}
	}
	return product{}, false
}
