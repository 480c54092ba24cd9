/** Deletes what a run has made, and what earlier runs have left, and says what could not be deleted. */
import { messageOf } from '../../../src/support/process/error-code.ts'
import { nameOf } from '../plan/names.ts'
import type { Arm } from '../wire/arm.ts'

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
