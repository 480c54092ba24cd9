const endOfHead = Buffer.from('\r\n\r\n')

/**
 * Reads the answers of one connection; calls `onAnswer` with each status. Knows what the servers under test send: a head
 * with a length, and a body, or 204.
 */
export function createAnswerReader(onAnswer: (status: number) => void): (chunk: Buffer) => void {
  let held: Buffer = Buffer.alloc(0)
  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    for (;;) {
      const end = held.indexOf(endOfHead)
      if (end === -1) return
      const head = held.toString('latin1', 0, end)
      const status = Number(head.slice(9, 12))
      const length = status === 204 ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN)
      if (Number.isNaN(length)) throw new Error(`an answer without a length: ${head}`)
      const total = end + endOfHead.length + length
      if (held.length < total) return
      held = held.subarray(total)
      onAnswer(status)
    }
  }
}
