"""File commands (05-resources): the same nine in both directions, without a channel of their own."""
