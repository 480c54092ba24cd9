/** The version of this package, and the versions of Azure's interfaces that we ask. */

/** The same as in package.json, which a test compares: a program that has this library within has no such file to read. */
export const packageVersion = '0.2.0'

/**
 * The API version for resources of Microsoft.EventGrid: the newest stable version. An older version does not return settings that an
 * operator made with a newer version, so a write with the older version would remove these settings.
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
