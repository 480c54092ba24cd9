/** What a metadata field is: its facts, when it is required, and how facts and rule become one entry of the table. */
import { z } from 'zod'
import { brokenRule } from './faults.ts'
import { parseChoice } from './rules.ts'

/** What is known of a field besides the rule of its value. */
export interface Facts {
  /** Other names of the same field, which match in the same way. */
  readonly aliases?: readonly string[]
  /** What reads it, the ways of delivery apart: `push` and `pull` are the input side. */
  readonly readers: readonly Reader[]
  /** Why it has to be there, if so. @default never */
  readonly needed?: Need
  /** The value of a field that is left out, as a user would write it. */
  readonly default?: string
  /** The behaviour without it, where there is no fixed default. */
  readonly otherwise?: string
  /** Whether its value is never printed, and a component holds it as a `Secret`. @default false */
  readonly secret?: boolean
  /** How its value may be printed. @default 'redacted' */
  readonly shown?: 'plain' | 'url' | 'redacted'
  /** Whether the value `default` resets the setting of the event subscription to Event Grid's own default. @default false */
  readonly resettable?: boolean
  /** Whether other fields are required or not by its value. @default false */
  readonly decides?: boolean
  /** The words that it takes, in any letter case; empty: any text that fits its format. */
  readonly choices?: readonly string[]
  /** Other spellings of these words. */
  readonly otherChoices?: readonly string[]
  /** Its format, in words. @default the choices */
  readonly type?: string
  /** A value to start from, for a field that a user may have to add. */
  readonly example?: string
  /** A stricter rule of one way of delivery: throws BrokenRule. */
  readonly stricter?: { readonly [Way in 'push' | 'pull']?: (text: string) => unknown }
  readonly about: string
}

/** A rule whose fault is an issue, with what the rule says as `params`. */
function ruleBy<T>(parse: (text: string) => T) {
  return z.string().transform((text, context): T => {
    try {
      return parse(text)
    } catch (error) {
      const params = brokenRule(error)
      context.addIssue({ code: 'custom', message: params.rule, params })
      return z.NEVER
    }
  })
}

/** A text as the value of a field: throws BrokenRule where it breaks the rule. */
export interface Parsed<T> {
  readonly parse: (text: string) => T
}

/** A field that may be left out. */
export function field<T, const F extends Facts>(facts: F & Parsed<T>) {
  return Object.assign(ruleBy(facts.parse).optional(), { facts })
}

/** A field with a default. */
export function withDefault<T, const F extends Facts>(facts: F & Parsed<T> & { readonly default: string }) {
  return Object.assign(ruleBy(facts.parse).prefault(facts.default), { facts })
}

/** A field that takes one of a few words; the first is the default. */
export function choice<const Words extends readonly [string, ...string[]], const F extends Facts>(
  choices: Words,
  facts: F,
) {
  const parse = (text: string): Words[number] => parseChoice(text, choices)
  return withDefault({ ...facts, choices, parse, default: choices[0] })
}

/** A setting of the event subscription: without it the existing setting in Azure is kept. */
export function setting<T, const F extends Omit<Facts, 'readers'>>(facts: F & Parsed<T>) {
  const parse = (text: string): Setting<T> => (text.toLowerCase() === 'default' ? resetToDefault : facts.parse(text))
  return field({ ...ofSubscription, ...facts, parse })
}

const ofSubscription = {
  readers: ['push', 'pull'],
  shown: 'plain',
  resettable: true,
  otherwise: 'the setting in Azure',
} as const

/** What reads a field: the input side by push or by pull, or the output side. */
export type Reader = 'push' | 'pull' | 'output'

export const credentialKinds = ['clientSecret', 'managedIdentity', 'workloadIdentity', 'cli', 'default'] as const
export const deliveryAuthentications = ['secret', 'entra', 'none'] as const
export const deliveryModes = ['push', 'pull'] as const
export const provisionings = ['manage', 'check', 'none'] as const
export const topicAuthentications = ['accessKey', 'entra'] as const

/** What decides which fields are required. */
export interface Circumstances {
  readonly azureCredential: (typeof credentialKinds)[number]
  readonly deliveryAuthentication: (typeof deliveryAuthentications)[number]
  readonly provisioning: (typeof provisionings)[number]
  readonly topicAuthentication: (typeof topicAuthentications)[number]
  /** Did the host pass a credential? Then no credential field is needed. */
  readonly credentialGiven: boolean
  readonly has: (name: string) => boolean
}

/**
 * Why this reader requires a field, as the rule ends: `is required on the input side`; `undefined` where it does not.
 * `or` is what may be done in place of writing the field.
 */
export type Need = (by: Circumstances, reader: Reader) => { readonly why: string; readonly or?: string } | undefined

/** The fields that a service principal is made of. The output side uses them too with `topicAuthentication: entra`. */
export const credentialFields = ['tenantId', 'clientId', 'clientSecret'] as const

const isOfFields = ({ credentialGiven, azureCredential }: Circumstances) =>
  !credentialGiven && azureCredential === 'clientSecret'

/** Is nobody asked about the event subscription? */
const isUnasked = ({ provisioning }: Circumstances) => provisioning === 'none'

/** Is there a credential, whatever it is made of? Pull delivery by a key works without one, and so does `provisioning: none`. */
export const hasCredential = (by: Circumstances): boolean => !isOfFields(by) || credentialFields.every(by.has)

/** Required unless another credential takes its place, or nobody has to be asked. */
const ofCredential: Need = (by, reader) => {
  if (!isOfFields(by)) return undefined
  if (reader === 'output') {
    return by.topicAuthentication === 'entra' ? { why: 'with topicAuthentication entra' } : undefined
  }
  if (reader === 'push') return isUnasked(by) ? undefined : { why: 'on the input side' }
  if (!by.has('namespaceKey')) return { why: 'with deliveryMode pull and no namespaceKey' }
  if (isUnasked(by)) return undefined
  if (!by.has('namespaceEndpoint')) return { why: 'with deliveryMode pull and no namespaceEndpoint' }
  const given = credentialFields.find(by.has)
  return given && { why: `with ${given}` }
}

/** Entra's tokens of deliveries name tenant and client, whatever signs in. */
export const ofTokens: Need = (by, reader) =>
  ofCredential(by, reader) ??
  (reader === 'push' && by.deliveryAuthentication === 'entra'
    ? { why: 'with deliveryAuthentication entra' }
    : undefined)

/** A client id alone is how a managed identity is written for other components. */
export const ofSecret: Need = (by, reader) => {
  const required = ofCredential(by, reader)
  if (!required || !by.has('clientId')) return required
  const isDeliverySource = reader === 'push' && by.deliveryAuthentication === 'secret' && !by.has('deliveryToken')
  const also = isDeliverySource ? ' and a deliveryToken' : ''
  return { ...required, or: `for a managed identity set azureCredential: managedIdentity${also}` }
}

/** Deliveries by `secret` need something to derive their credential from. */
export const ofDeliveries: Need = (by, reader) => {
  if (reader !== 'push' || by.deliveryAuthentication !== 'secret' || by.has('clientSecret')) return undefined
  // Where the credential needs a clientSecret, its fault says it.
  if (ofCredential(by, reader)) return undefined
  return { why: 'with deliveryAuthentication secret and no clientSecret', or: 'set deliveryAuthentication to entra' }
}

/** Required by these readers. @param isSo in which circumstances. @default in all */
function need(readers: readonly Reader[], why: string, isSo: (by: Circumstances) => boolean = () => true): Need {
  return (by, reader) => (readers.includes(reader) && isSo(by) ? { why } : undefined)
}

export const byPush = need(['push'], 'on the input side')
export const byPushThatAsks = need(['push'], 'on the input side', (by) => !isUnasked(by))
export const byPull = need(['pull'], 'with deliveryMode pull')
export const byPullThatDoesNotAsk = need(['pull'], 'with provisioning none', isUnasked)
export const byInputThatDoesNotAsk = need(['push', 'pull'], 'with provisioning none', isUnasked)
export const byOutput = need(['output'], 'on the output side')
export const byOutputWithKey = need(['output'], 'on the output side', (by) => by.topicAuthentication === 'accessKey')

/** One of two fields that are given together. */
export const beside = (other: string) => need(['push', 'pull'], `with ${other}`, (by) => by.has(other))

/** The metadata value `default`: the setting goes back to what Event Grid itself uses (docs/metadata.md). */
export const resetToDefault: unique symbol = Symbol('default')

/** A setting of the event subscription: a value, or back to the default. Absent: the setting in Azure is kept. */
export type Setting<T> = T | typeof resetToDefault
