/** Which sides of a component are on, and which fields are read for them. */
import type { Side } from '../../core/component.ts'
import { type FieldName, findField, metadataFields } from '../fields/find-field.ts'
import { credentialFields, type Reader } from '../fields/needs.ts'
import type { GivenFields } from './read-properties.ts'

const isCredentialField = (name: string) => credentialFields.some((field) => field === name)

const isEntra = ({ fields }: GivenFields) => fields.get('topicAuthentication')?.text?.toLowerCase() === 'entra'

/** The sides that are on without `direction`: each with a field that no other reads. With Entra's tokens both read the credential. */
export const configuredSides = (given: GivenFields): ReadonlySet<Side> =>
  new Set((['input', 'output'] as const).filter((side) => ownFields(side, given).length > 0))

/** The present fields that only this side reads, and that therefore configure it. */
export function ownFields(side: Side, given: GivenFields): readonly FieldName[] {
  const shared = isEntra(given)
  return [...given.fields.keys()].filter((name) => {
    const [only, another] = findField(name)?.sides ?? []
    return only === side && !another && !(shared && isCredentialField(name))
  })
}

/** The fields that these read: their own, and for an output with Entra tokens those of the credential. */
export function fieldsRead(configured: readonly Reader[], given: GivenFields): ReadonlySet<FieldName> {
  const lent = configured.includes('output') && isEntra(given)
  const read = metadataFields.filter(
    ({ name, readers }) => readers.some((reader) => configured.includes(reader)) || (lent && isCredentialField(name)),
  )
  return new Set(['direction', ...read.map(({ name }) => name)])
}
