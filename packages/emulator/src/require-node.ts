/** Refuses the import of the emulator by a Node that is too old. */
import { complaintAboutNode } from '../../../src/support/process/runtime.ts'

// Without this check an old Node fails later, with an error that does not name the cause.
const complaint = complaintAboutNode(process.versions.node, import.meta.url, 'eventgrid-emulator')
if (complaint !== undefined) throw new Error(complaint)
