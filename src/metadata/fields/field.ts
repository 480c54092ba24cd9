/** What a metadata field is: its facts, and how facts and rule become one entry of the table. */
import { z } from 'zod'
import { brokenRule } from './faults.ts'
import type { Need, Reader } from './needs.ts'
import { parseChoice } from './rules.ts'

/** What is known of a field besides the rule of its value. */
export interface Facts {
  /** Other names of the same field, which match in the same way. */
  readonly aliases?: readonly string[]
  /** Which side reads the field. The input side is two readers: `push` and `pull`. */
  readonly readers: readonly Reader[]
  /** When and why the field is required. @default never */
  readonly needed?: Need
  /** The value of a field that is left out, as a user would write it. */
  readonly default?: string
  /** The behaviour without the field, where there is no fixed default. */
  readonly otherwise?: string
  /** Whether the value is never printed, and stands in a component as a `Secret`. @default false */
  readonly secret?: boolean
  /** How its value may be printed. @default 'redacted' */
  readonly shown?: 'plain' | 'url' | 'redacted'
  /** Whether other fields are required or not by its value. @default false */
  readonly decides?: boolean
  /** The words that the field takes, in any letter case. Empty: any text that fits the format. */
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
  otherwise: 'the setting in Azure',
} as const

/** The metadata value `default`: the setting goes back to what Event Grid itself uses (docs/metadata.md). */
export const resetToDefault: unique symbol = Symbol('default')

/** A setting of the event subscription: a value, or back to the default. Absent: the setting in Azure is kept. */
export type Setting<T> = T | typeof resetToDefault
