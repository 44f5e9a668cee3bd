def program(v):
    v.a = v.age
	v.b = v.a
    return v.b
