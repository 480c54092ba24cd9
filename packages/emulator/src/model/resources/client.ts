// Shape of an application with roles, and of a declared Azure subscription.

/** A role of an application at a scope. */
export interface RoleGrant {
  /** Name or id of a built-in role: those of Event Grid, and Owner, Contributor, Reader, User Access Administrator. */
  readonly role: string
  /** The role applies here and below. @default `/`, everywhere */
  readonly scope?: string
}

/** An application that may sign in, with all defaults filled in. */
export interface Client {
  readonly tenantId: string
  readonly clientId: string
  /** The first of its secrets. */
  readonly clientSecret: string
  /** Its other secrets, valid at the same time. */
  readonly otherSecrets: readonly string[]
  /** The object id of its service principal. */
  readonly objectId: string
  readonly roles: readonly Required<RoleGrant>[]
}

/** An Azure subscription, with all defaults filled in. */
export interface DeclaredSubscription {
  readonly id: string
  readonly tenantId: string
  /** Whether the provider Microsoft.EventGrid is registered. */
  readonly registered: boolean
  /** Names. */
  readonly resourceGroups: readonly string[]
}
