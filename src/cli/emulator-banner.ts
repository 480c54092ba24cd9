import type { EventGridEmulator, NamespaceTopicView, SystemTopicView, TopicView } from '../emulator/index.ts'
import { shellWord } from '../support/text.ts'

/** How to use a started emulator: endpoints, keys, and lines for a shell. Its keys protect nothing, so they are shown. */
export function bannerLines(emulator: EventGridEmulator, caFile: string): string[] {
  const { endpoints, proxy } = emulator
  return [
    `Resource Manager and Entra   ${endpoints.resourceManager}`,
    `topics over http, and proxy  ${proxy}`,
    `page                         ${proxy}/`,
    `certificate authority        ${caFile}`,
    '',
    ...emulator.topics().flatMap((topic) => topicLines(topic)),
    ...emulator.domains().flatMap((domain) => topicLines(domain, 'domain')),
    ...emulator.systemTopics().flatMap(systemTopicLines),
    ...emulator.namespaceTopics().flatMap(namespaceTopicLines),
    ...emulator
      .clients()
      .flatMap(({ tenantId, clientId, clientSecret, roles }) => [
        `client ${clientId}`,
        `  tenant  ${tenantId}`,
        `  secret  ${clientSecret}`,
        ...roles.map(({ role, scope }) => `  role    ${role} at ${scope}`),
      ]),
    '',
    ...environmentOf(emulator, caFile).map(([name, value]) => `export ${name}=${shellWord(value)}`),
    '',
  ]
}

/** Lines about a topic or a domain. */
export function topicLines({ name, id, endpoint, httpEndpoint, keys }: TopicView, noun = 'topic'): string[] {
  return [
    `${noun} ${name}`,
    `  endpoint  ${endpoint}`,
    `  or        ${httpEndpoint}`,
    `  key       ${keys[0]}`,
    `  scope     ${id}`,
  ]
}

function systemTopicLines({ name, id, source }: SystemTopicView): string[] {
  return [`system topic ${name}`, `  source    ${source}`, `  scope     ${id}`]
}

function namespaceTopicLines({ name, id, namespaceEndpoint, endpoint, key }: NamespaceTopicView): string[] {
  return [
    `namespace topic ${name}`,
    `  publish   ${endpoint}`,
    `  receive   ${namespaceEndpoint}`,
    `  key       ${key}`,
    `  id        ${id}`,
  ]
}

/** The variables by which Azure's SDKs, and the binding, find the emulator and its first client. */
function environmentOf(emulator: EventGridEmulator, caFile: string): (readonly [string, string])[] {
  return [
    ['AZURE_RESOURCE_MANAGER_URL', emulator.endpoints.resourceManager],
    ['AZURE_AUTHORITY_HOST', emulator.endpoints.authorityHost],
    ['NODE_EXTRA_CA_CERTS', caFile],
    ['AZURE_TENANT_ID', emulator.tenantId],
    ['AZURE_CLIENT_ID', emulator.clientId],
    ['AZURE_CLIENT_SECRET', emulator.clientSecret],
    ['AZURE_SUBSCRIPTION_ID', emulator.subscriptionId],
  ]
}
