/** What is deleted: the resource group that a run made, or by id what it made in a group that was given. What could not be is told. */
import { messageOf } from '../../../src/support/process/error-code.ts'
import { isRecord } from '../../../src/support/text/json-text.ts'
import { nameOf, tagName } from '../plan/names.ts'
import { type Arm, errorOf } from '../wire/arm.ts'

/** Deletes resources at once. Resolves with those that are still there, each with the reason. */
export async function deleteAll(
  arm: Arm,
  ids: readonly string[],
  say: (line: string) => void,
): Promise<readonly { readonly id: string; readonly why: string }[]> {
  const left = await Promise.all(
    [...new Set(ids)].map(async (id) => {
      const why = await deleteOne(arm, id).catch(messageOf)
      if (why === undefined) return []
      say(`  NOT DELETED ${nameOf(id)}: ${why}`)
      return [{ id, why }]
    }),
  )
  return left.flat()
}

/** `undefined` where it is gone, or was never there. */
async function deleteOne(arm: Arm, id: string): Promise<string | undefined> {
  const { first, end, error } = await arm.write('DELETE', id)
  // An emulator that has no such thing has none of it.
  if (error?.code === 'NotSupportedByEmulator') return undefined
  if (first.status === 404 || first.status === 204 || end.toLowerCase() === 'succeeded') return undefined
  return error ? `${first.status} ${error.code}: ${error.message.slice(0, 300)}` : `the deletion ended as ${end}`
}

/**
 * Deletes a resource group with all that is in it, if it still has the mark of the run that made it: `begun`, the time of its beginning.
 * Resolves with the group and the reason where it is still there.
 */
export async function deleteGroup(
  arm: Arm,
  { id, begun }: { readonly id: string; readonly begun: string },
  say: (line: string) => void,
): Promise<readonly { readonly id: string; readonly why: string }[]> {
  const { status, body } = await arm.send('GET', id)
  if (status === 404) return []
  if (status !== 200) return [{ id, why: `it can't be read: ${status} ${errorOf(body)?.code ?? ''}` }]
  const mark = isRecord(body) && isRecord(body.tags) ? body.tags[tagName] : undefined
  if (mark !== begun) return [{ id, why: 'it does not have the mark of its run any more' }]
  return deleteAll(arm, [id], say)
}
