/** Which addresses, keys and variables lead programs of each language to a running emulator. */
import { z } from 'zod'
import type { NamespaceTopicView, StorageView, SystemTopicView, TopicView } from '../model/resource-views.ts'
import type { Client } from '../model/resources/resource.ts'
import type { Members } from '../model/schemas.ts'

/** The languages whose environment is known. `sh`: curl and other commands. */
export const environmentLanguages = ['python', 'go', 'java', 'node', 'sh'] as const

export type EnvironmentLanguage = (typeof environmentLanguages)[number]

/** How programs of a language are led to the emulator. */
export interface LanguageEnvironment {
  /** Environment variables, in the order in which they are printed. */
  readonly variables: Readonly<Record<string, string>>
  /** What no variable can say, one sentence each. */
  readonly notes: readonly string[]
}

/** Where a running emulator is, with keys and secrets: they protect nothing. */
export interface EmulatorEnvironment {
  /** Base URL of the topics over http, of this interface, and the CONNECT proxy. */
  readonly http: string
  /** Base URL of Resource Manager, Entra and the topics over https. */
  readonly https: string
  /** The certificate authority, PEM. */
  readonly ca: string
  /** A file that holds it; absent where nobody said that there is one. */
  readonly caFile?: string
  /** The same as a PKCS#12 store, base64: for Java, which opens it with any password. */
  readonly pkcs12: string
  /** A file that holds that; absent where nobody said that there is one. */
  readonly pkcs12File?: string
  /** `manual`: it stands until it is advanced. */
  readonly clock: 'machine' | 'manual'
  readonly subscriptionId: string
  /** The applications that may sign in; the first one is meant where none is named. */
  readonly clients: readonly Pick<Client, 'tenantId' | 'clientId' | 'clientSecret'>[]
  readonly topics: readonly Omit<TopicView, 'keys'>[]
  readonly domains: readonly Omit<TopicView, 'keys'>[]
  readonly systemTopics: readonly SystemTopicView[]
  readonly namespaceTopics: readonly NamespaceTopicView[]
  /** The storage accounts whose blobs raise events. */
  readonly storage: readonly StorageView[]
  readonly languages: Readonly<Record<EnvironmentLanguage, LanguageEnvironment>>
}

const text = z.string()

const language = z.strictObject({
  variables: z.record(z.string(), z.string()),
  notes: z.array(text),
} satisfies Members<LanguageEnvironment>)
const resource = { name: text, id: text }
const published = z.strictObject({
  ...resource,
  endpoint: text,
  httpEndpoint: text,
  key: text,
} satisfies Members<Omit<TopicView, 'keys'>>)

/** What the OpenAPI document says of the environment. */
export const environmentAnswer = z.strictObject({
  http: text.describe('Base URL of topics over http, of this interface, and the CONNECT proxy'),
  https: text.describe('Base URL of Resource Manager, Entra and topics'),
  ca: text.describe('The certificate authority, PEM'),
  caFile: z.exactOptional(text.describe('A file that holds it')),
  pkcs12: text.describe('The same as a PKCS#12 store for Java, base64; any password opens it'),
  pkcs12File: z.exactOptional(text.describe('A file that holds that')),
  clock: z.enum(['machine', 'manual']),
  subscriptionId: text,
  clients: z.array(z.strictObject({ tenantId: text, clientId: text, clientSecret: text })),
  topics: z.array(published),
  domains: z.array(published),
  systemTopics: z.array(z.strictObject({ ...resource, source: text })),
  namespaceTopics: z.array(z.strictObject({ ...resource, namespaceEndpoint: text, endpoint: text, key: text })),
  storage: z.array(
    z.strictObject({ account: text, id: text, blobEndpoint: text, httpsBlobEndpoint: text, azurite: text }),
  ),
  languages: z.strictObject({ python: language, go: language, java: language, node: language, sh: language }),
} satisfies Members<EmulatorEnvironment>)

type Place = Pick<EmulatorEnvironment, 'https' | 'caFile' | 'pkcs12File' | 'subscriptionId'> & {
  readonly client: Pick<Client, 'tenantId' | 'clientId' | 'clientSecret'>
}

/** What a language calls its list of authorities, and what it needs besides. */
const languages: Readonly<
  Record<
    EnvironmentLanguage,
    { trust(file: string, store?: string): Record<string, string>; readonly notes: readonly string[] }
  >
> = {
  python: {
    trust: (file) => ({ REQUESTS_CA_BUNDLE: file, SSL_CERT_FILE: file }),
    notes: [
      'Give credentials of azure-identity disable_instance_discovery=True.',
      'The two files take the place of all other authorities in this process.',
    ],
  },
  go: {
    trust: (file) => ({ SSL_CERT_FILE: file }),
    notes: [
      'Give credentials of azidentity DisableInstanceDiscovery: true.',
      'Go reads SSL_CERT_FILE on Linux only; elsewhere put the certificate authority into the store of the system.',
    ],
  },
  java: {
    trust: (_file, store = '') => ({
      JAVA_TOOL_OPTIONS: `-Djavax.net.ssl.trustStore=${javaWord(store)} -Djavax.net.ssl.trustStorePassword=changeit`,
    }),
    notes: [
      'Call disableInstanceDiscovery() of the builder of a credential.',
      'The store takes the place of all other authorities in this process.',
    ],
  },
  node: {
    trust: (file) => ({ NODE_EXTRA_CA_CERTS: file }),
    notes: ['Give credentials of @azure/identity disableInstanceDiscovery: true.'],
  },
  sh: {
    trust: (file) => ({ CURL_CA_BUNDLE: file, SSL_CERT_FILE: file }),
    notes: [],
  },
}

/** A word of `JAVA_TOOL_OPTIONS`, which takes quotes, and no other way to have a space in a word. */
const javaWord = (text: string) => (/[\s'"]/.test(text) ? (text.includes('"') ? `'${text}'` : `"${text}"`) : text)

/** The environment of each language. Without a file of the certificate authority no variable names one. */
export function languageEnvironments(place: Place): EmulatorEnvironment['languages'] {
  const { https, caFile, pkcs12File, client, subscriptionId } = place
  const of = (language: EnvironmentLanguage): LanguageEnvironment => ({
    variables: {
      AZURE_RESOURCE_MANAGER_URL: https,
      AZURE_AUTHORITY_HOST: https,
      ...(caFile !== undefined && languages[language].trust(caFile, pkcs12File)),
      AZURE_TENANT_ID: client.tenantId,
      AZURE_CLIENT_ID: client.clientId,
      AZURE_CLIENT_SECRET: client.clientSecret,
      AZURE_SUBSCRIPTION_ID: subscriptionId,
    },
    notes: languages[language].notes,
  })
  return { python: of('python'), go: of('go'), java: of('java'), node: of('node'), sh: of('sh') }
}
