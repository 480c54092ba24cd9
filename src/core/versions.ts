/** The version of this package, and those of the interfaces that Azure is asked by. */

/** The same as in package.json, which a test compares: a program that has this library within has no such file to read. */
export const packageVersion = '0.2.0'

/**
 * Resource Manager's resources of Microsoft.EventGrid, event subscriptions above all: the newest stable version that is known. An older
 * one hides what an operator has set by a newer one, and a write by it loses that.
 */
export const eventGridApiVersion = '2025-02-15'

/** Events of namespaces: publish, receive, settle. The first version with renewLock and delays of a release. */
export const namespaceApiVersion = '2024-06-01'

/** Resource Manager's own resources. */
export const resourceApiVersions = {
  subscriptions: '2022-12-01',
  /** Resource groups and resource providers. */
  resources: '2021-04-01',
  permissions: '2022-04-01',
} as const
