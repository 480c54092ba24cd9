// Which sides (input, output) are on: `direction`, or the fields that are present; fields of one side alone.
import { BrokenRule } from '../fields/broken-rule.ts'
import type { Side } from '../fields/field-table.ts'
import { type FieldName, findField, metadataFields } from '../fields/fields.ts'
import { parseChoice, parseList } from '../fields/plain-values.ts'

/** The fields of a credential. The output side uses them too with `topicAuthentication: entra`. */
export const credentialFields = ['tenantId', 'clientId', 'clientSecret'] as const satisfies readonly FieldName[]

const isCredentialField = (name: string) => credentialFields.some((field) => field === name)
const isEntra = (topicAuthentication: string | undefined) => topicAuthentication?.toLowerCase() === 'entra'

/**
 * The sides that are configured without `direction`: each side with at least one present field that no other side reads. With
 * `topicAuthentication: entra` both sides read the credential fields.
 */
export function configuredSides(
  present: readonly FieldName[],
  topicAuthentication: string | undefined,
): ReadonlySet<Side> {
  const sides = ['input', 'output'] as const
  return new Set(sides.filter((side) => ownFields(side, present, topicAuthentication).length > 0))
}

/** The present fields that only this side reads, and that therefore configure it. */
export function ownFields(
  side: Side,
  present: readonly FieldName[],
  topicAuthentication: string | undefined,
): readonly FieldName[] {
  const shared = isEntra(topicAuthentication)
  return present.filter((name) => {
    const [only, another] = findField(name)?.sides ?? []
    return only === side && !another && !(shared && isCredentialField(name))
  })
}

/** The sides that `direction` names: `input`, `output`, or both; `undefined` for any other text. */
export function parseDirection(text: string): ReadonlySet<Side> | undefined {
  try {
    return new Set(parseList(text).map((word) => parseChoice(word, ['input', 'output'])))
  } catch (error) {
    if (error instanceof BrokenRule) return undefined
    throw error
  }
}

/** The fields that a side reads: its own, and for an output with Entra tokens those of the credential. */
export function fieldsRead(side: Side, topicAuthentication: string | undefined): readonly FieldName[] {
  const lent = side === 'output' && isEntra(topicAuthentication)
  return metadataFields
    .filter(({ name, sides }) => sides.includes(side) || (lent && isCredentialField(name)))
    .map(({ name }) => name)
}
