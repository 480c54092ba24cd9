import { complaintAboutNode } from './node-version.ts'

// What the package needs of Node would else be missed in the middle of something, and named by nobody.
const complaint = complaintAboutNode(process.versions.node)
if (complaint !== undefined) throw new Error(complaint)
