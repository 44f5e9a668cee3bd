//! What crosses the disk: ids, kinds of artifact, manifest, key, store, stage, errors.
