"""The audit of a workspace: every citation, target, record, blob and text held against the journal and the wiki."""
