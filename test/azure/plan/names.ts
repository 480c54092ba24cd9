/** Which names a run gives to what it makes, and which resource groups are those of a run: by form of the name, mark and age. */
import { randomInt } from 'node:crypto'
import { isRecord } from '../../../src/support/text/json-text.ts'

/**
 * The mark of a run: a tag of the resource group that it makes, with the time of its beginning as value; a tag of the resources, with the
 * suffix of the run as value.
 */
export const tagName = 'eventgrid-binding-test-azure'

export const suffixLength = 8
const letters = 'abcdefghijkmnpqrstuvwxyz23456789'

/** A run's own resource group, whose name ends in the suffix. */
const groupPrefix = `${tagName}-`
const groupForm = new RegExp(`^${groupPrefix}[${letters.slice(0, 24)}][${letters}]{${suffixLength - 1}}$`)

/** A colleague's run is younger. */
const leftOverMs = 24 * 3_600_000

/** Letters and digits that no storage account refuses. The first is a letter, so that no name ends in a number alone. */
export function randomSuffix(): string {
  const at = (limit: number) => letters.charAt(randomInt(limit))
  return at(24) + Array.from({ length: suffixLength - 1 }, () => at(letters.length)).join('')
}

/** A resource group that an earlier run made and left. */
export interface LeftGroup {
  readonly id: string
  readonly name: string
  /** When the run began, as its mark says. */
  readonly begun: string
}

/** Reads an entry of a list of resource groups; undefined where that is no group of a run, or of one that may go on. */
export function leftGroupOf(entry: unknown, subscriptionId: string, now: number): LeftGroup | undefined {
  if (!isRecord(entry) || typeof entry.name !== 'string' || !isRecord(entry.tags)) return undefined
  const { name } = entry
  const begun = entry.tags[tagName]
  const time = typeof begun === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(begun) ? Date.parse(begun) : Number.NaN
  if (typeof begun !== 'string' || !groupForm.test(name) || !(now - time > leftOverMs)) return undefined
  // Not the id of the answer: what is deleted is spelled here.
  return { id: groupIdOf(subscriptionId, name), name, begun }
}

export const groupIdOf = (subscriptionId: string, name: string) =>
  `/subscriptions/${subscriptionId}/resourceGroups/${name}`

export interface Place {
  readonly subscriptionId: string
  /** Undefined: a group of the run's own. */
  readonly resourceGroup: string | undefined
  readonly location: string
  readonly suffix: string
}

export type Names = ReturnType<typeof namesOf>

/** The resource ids of a run. */
export function namesOf({ subscriptionId, suffix, resourceGroup = groupPrefix + suffix }: Place) {
  const group = groupIdOf(subscriptionId, resourceGroup)
  const eventGrid = `${group}/providers/Microsoft.EventGrid`
  return {
    group,
    eventGrid,
    cloudTopic: `${eventGrid}/topics/egb-cloud-${suffix}`,
    gridTopic: `${eventGrid}/topics/egb-grid-${suffix}`,
    domain: `${eventGrid}/domains/egb-domain-${suffix}`,
    namespace: `${eventGrid}/namespaces/egb-space-${suffix}`,
    storage: `${group}/providers/Microsoft.Storage/storageAccounts/egb${suffix}`,
  }
}

export const nameOf = (id: string): string => id.slice(id.lastIndexOf('/') + 1)
