/** The entries of one of Resource Manager's lists, page by page: a list that is too long, or no list, is an error and never cut. */
import { ArmFailureError } from '../../azure/read-failure.ts'
import { isRecord } from '../../support/text/is-record.ts'

/** Pages of a list that are read. Azure allows 500 event subscriptions of one source. */
const maxPages = 100

/** A passing failure: another answer may be right. */
export const unreadable = (message: string) => new ArmFailureError({ kind: 'answerUnread', message })

/**
 * Asks for the next page when the entries before it are used up.
 *
 * @param get asks for a path, or for the `nextLink` of a page
 * @param what the entries, for messages
 */
export async function* readList(
  get: (path: string) => Promise<unknown>,
  path: string,
  what: string,
): AsyncGenerator<unknown> {
  let next: string | undefined = path
  for (let page = 0; next !== undefined; page++) {
    if (page === maxPages) throw unreadable(`the list of ${what} has more than ${maxPages} pages`)
    const answer = await get(next)
    if (!isRecord(answer) || !Array.isArray(answer.value) || 'error' in answer || !isLink(answer.nextLink)) {
      throw unreadable(`it is not a list of ${what}`)
    }
    yield* answer.value
    next = answer.nextLink || undefined
  }
}

/** All entries of {@link readList}. */
export async function readWholeList(...list: Parameters<typeof readList>): Promise<readonly unknown[]> {
  const entries: unknown[] = []
  for await (const entry of readList(...list)) entries.push(entry)
  return entries
}

const isLink = (value: unknown): value is string | null | undefined =>
  value === undefined || value === null || typeof value === 'string'
