//! Operations a launch list is made of, each with a slow reference and a fast CPU form.
