/** What `emulate` prints at its start: endpoints, keys, clients, and the environment of a language for a shell. */

import { shellWord } from '../../../../src/support/text/text.ts'
import type {
  EmulatorEnvironment,
  EnvironmentLanguage,
  EventGridEmulator,
  NamespaceTopicView,
  StorageView,
  SystemTopicView,
  TopicView,
} from '../index.ts'

/** How to use a started emulator: endpoints, keys, and lines for a shell. Its keys protect nothing, so they are shown. */
export function bannerLines(emulator: EventGridEmulator, language?: EnvironmentLanguage): string[] {
  const { endpoints, proxy, caFile } = emulator
  const environment = emulator.environment()
  const clients = emulator.clients()
  return [
    `Resource Manager and Entra   ${endpoints.resourceManager}`,
    `topics over http, and proxy  ${proxy}`,
    `page                         ${proxy}/`,
    ...(caFile === undefined ? [] : [`certificate authority        ${caFile}`]),
    ...(environment.clock === 'manual' ? ['clock                        stands until POST /emulator/clock'] : []),
    '',
    ...emulator.storage().flatMap(storageLines),
    ...resourceLines(emulator),
    ...clients.flatMap(({ tenantId, clientId, clientSecret, roles }) => [
      `client ${clientId}`,
      `  tenant  ${tenantId}`,
      `  secret  ${clientSecret}`,
      ...roles.map(({ role, scope }) => `  role    ${role} at ${scope}`),
    ]),
    '',
    ...environmentLines(environment, language),
    '',
  ]
}

/** How to publish and subscribe to the topics, domains, system topics and namespace topics. @param known ids of those to leave out */
export function resourceLines(emulator: EventGridEmulator, known: ReadonlySet<string> = new Set()): string[] {
  const isNew = ({ id }: { readonly id: string }) => !known.has(id)
  const topics = emulator.topics().filter(isNew)
  const domains = emulator.domains().filter(isNew)
  return [
    ...topics.flatMap((topic) => publishedLines('topic', topic)),
    ...domains.flatMap((domain) => publishedLines('domain', domain)),
    ...emulator.systemTopics().filter(isNew).flatMap(systemTopicLines),
    ...emulator.namespaceTopics().filter(isNew).flatMap(namespaceTopicLines),
  ]
}

/** The ids of these resources. */
export function resourceIds(emulator: EventGridEmulator): ReadonlySet<string> {
  const all = [...emulator.topics(), ...emulator.domains(), ...emulator.systemTopics(), ...emulator.namespaceTopics()]
  return new Set(all.map(({ id }) => id))
}

function publishedLines(noun: 'topic' | 'domain', { name, id, endpoint, httpEndpoint, keys }: TopicView): string[] {
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

function storageLines({ account, id, blobEndpoint, httpsBlobEndpoint, azurite }: StorageView): string[] {
  return [
    `storage account ${account}`,
    `  BlobEndpoint  ${blobEndpoint}`,
    `  or            ${httpsBlobEndpoint}`,
    `  Azurite       ${azurite}`,
    `  scope         ${id}`,
  ]
}

/** Each value under the name of the metadata field that takes it. */
function namespaceTopicLines({ name, id, namespaceEndpoint, endpoint, key }: NamespaceTopicView): string[] {
  return [
    `namespace topic ${name}`,
    `  topicEndpoint      ${endpoint}`,
    `  namespaceEndpoint  ${namespaceEndpoint}`,
    `  namespaceTopic     ${id}`,
    `  namespaceKey       ${key}`,
  ]
}

/**
 * The environment of a language for a shell: what no variable can say as comments, then an `export` for each variable. @param language
 * the lines of Node, without comments, where none was asked for
 */
function environmentLines(
  { languages }: Pick<EmulatorEnvironment, 'languages'>,
  language: EnvironmentLanguage | undefined,
): string[] {
  const { variables, notes } = languages[language ?? 'node']
  return [
    ...(language === undefined ? [] : notes.map((note) => `# ${note}`)),
    ...Object.entries(variables).map(([name, value]) => `export ${name}=${shellWord(value)}`),
  ]
}
