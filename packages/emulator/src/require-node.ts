/** Whether Node is new enough for the emulator: an error at the import where it is not. */
import { complaintAboutNode } from '../../../src/support/process/runtime.ts'

// Without this check an old Node fails later, with an error that does not name the cause.
const complaint = complaintAboutNode(process.versions.node, import.meta.url, 'eventgrid-emulator')
if (complaint !== undefined) throw new Error(complaint)
