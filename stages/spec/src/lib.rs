//! What a pipeline file may say: the settings of every stage, read strictly and explained well.
