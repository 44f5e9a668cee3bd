def label_propagation(v, steps=10):
    "Communities by the most frequent label of the neighbours, the smallest of equals (Raghavan, Albert & Kumara 2007); all vote at once."
    v.label = v.id
    for k in range(steps):
        v.label = mode((u.label for u in v.innbs), default=v.label)
    return v.label
