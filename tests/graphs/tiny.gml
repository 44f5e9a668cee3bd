# The tiny graph of tiny.edges.txt; `kind` is the label, node 5 has none.
graph [
  directed 1
  node [
    id 8
    label "n8"
    kind "odd"
  ]
  node [
    id 1
    label "n1"
    kind "even"
  ]
  node [
    id 2
    label "n2"
    kind "odd"
  ]
  node [
    id 3
    label "n3"
    kind "even"
  ]
  node [
    id 5
    label "n5"
  ]
  edge [
    source 1
    target 2
    weight 0.5
  ]
  edge [
    source 2
    target 1
    weight 0.5
  ]
  edge [
    source 2
    target 3
    weight 1
  ]
  edge [
    source 2
    target 3
    weight 2
  ]
  edge [
    source 5
    target 5
    weight 3
  ]
  edge [
    source 8
    target 1
    weight -1.5
  ]
]
