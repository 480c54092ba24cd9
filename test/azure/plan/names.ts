/** The names of all that a run makes, with a suffix of its own, and the tag by which a later run finds them. */
import { randomInt } from 'node:crypto'

/** The tag's name; its value is the suffix of the run. */
export const tagName = 'eventgrid-binding-test-azure'

export const suffixLength = 8
const letters = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Letters and digits that no storage account refuses. The first is a letter, so that no name ends in a number alone. */
export function randomSuffix(): string {
  const at = (limit: number) => letters.charAt(randomInt(limit))
  return at(24) + Array.from({ length: suffixLength - 1 }, () => at(letters.length)).join('')
}

export interface Place {
  readonly subscriptionId: string
  readonly resourceGroup: string
  readonly location: string
  readonly suffix: string
}

export type Names = ReturnType<typeof namesOf>

/** The resource ids of a run. */
export function namesOf({ subscriptionId, resourceGroup, suffix }: Place) {
  const group = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`
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
