/** Fails at import where Node is too old. */
import { complaintAboutNode } from './node-version.ts'

// Without this check an old Node fails later, with an error that does not name the cause.
const complaint = complaintAboutNode(process.versions.node, import.meta.url)
if (complaint !== undefined) throw new Error(complaint)
