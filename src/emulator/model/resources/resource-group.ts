// A resource group: its id, region and tags.

export interface ResourceGroup {
  /** `/subscriptions/{id}/resourceGroups/{name}`. */
  readonly id: string
  readonly subscriptionId: string
  readonly name: string
  /** Absent until ARM names one: options declare groups without a region. */
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
}

/** The id of a resource group. */
export function resourceGroupId(subscriptionId: string, name: string): string {
  return `/subscriptions/${subscriptionId}/resourceGroups/${name}`
}
