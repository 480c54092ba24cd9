import { createInterface } from 'node:readline'

/** Writes one JSON line to whoever has started this process. */
export function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

/**
 * Answers each JSON line of standard input by one; ends the process with the input. Only the benchmark writes there, so a
 * message is what it is taken for.
 */
export async function answerLines<Message>(answer: (message: Message) => Promise<object> | object): Promise<void> {
  for await (const line of createInterface(process.stdin)) say(await answer(JSON.parse(line)))
  process.exit()
}

/** What the benchmark set up for this process. */
export function setup<Setup>(): Setup {
  return JSON.parse(process.env.BENCH_SETUP ?? '{}')
}
