// Enumerated values of Resource Manager: taken in any letter case, kept and shown in Azure's spelling.
import { z } from 'zod'
import { isRecord } from '../../../../src/support/text/json-text.ts'

/** The name of a list that a value is in another letter case; anything else as it is, for the schema to refuse. */
const spelled = (names: readonly string[], given: unknown) =>
  typeof given === 'string' ? (names.find((name) => name.toLowerCase() === given.toLowerCase()) ?? given) : given

/** One of these names, in any letter case. */
export const enumeration = <const Name extends string>(...names: readonly [Name, ...Name[]]) =>
  z.preprocess((given) => spelled(names, given), z.enum(names))

/** A schema whose forms differ by the value of a member, which is taken in any letter case. */
export const byMember = <Form extends z.ZodType>(member: string, names: readonly string[], form: Form) =>
  z.preprocess((given, context) => {
    if (!isRecord(given)) return given
    const value = spelled(names, given[member])
    if (names.some((name) => name === value)) return { ...given, [member]: value }
    context.addIssue({ code: 'invalid_value', values: [...names], input: value, path: [member] })
    return z.NEVER
  }, form)
