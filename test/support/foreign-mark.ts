import { processMark } from '../../src/support/process/process-mark.ts'

/** The mark of a process that has ended: one that was started at another time under the id of this one. */
export function markOfEnded(): string {
  const bytes = Buffer.from(processMark(), 'base64url')
  bytes.writeUInt8(bytes.readUInt8(10) ^ 1, 10)
  return bytes.toString('base64url')
}

/** The mark of a process of another container or machine, whatever its id is. */
export function markOfElsewhere(): string {
  const bytes = Buffer.from(processMark(), 'base64url')
  bytes.writeUInt8(bytes.readUInt8(0) ^ 1, 0)
  return bytes.toString('base64url')
}
