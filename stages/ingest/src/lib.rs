//! Raw files to graph, features and labels.
