// Advice texts for the emulator beside those for Azure: role, scope, key, topic.
import { isLoopback } from '../support/net/loopback.ts'
import { shellWord } from '../support/text/text.ts'

/** Is this the address of an emulator? Nothing of Azure itself is on this machine. */
export function isEmulator(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname)
}

/** The remedy for Azure, and before it the remedy for an emulator where one answers at this URL: `az` manages Azure alone. */
export function fixFor(url: string, emulator: string, azure: string): string {
  return isEmulator(url) ? `on the emulator: ${emulator}\nin Azure: ${azure}` : azure
}

/** What to do where nothing listens at the address of an emulator; `undefined` for any other error. A retry may help. */
export function silentEmulatorFix(code: string | undefined, url: string): string | undefined {
  if (code !== 'ECONNREFUSED' || !isEmulator(url)) return undefined
  return `nothing listens at ${new URL(url).host}: start the emulator (eventgrid-binding emulate), or correct the address`
}

/**
 * What to do about a missing role, at the emulator or the part of Azure behind a URL.
 *
 * @param scope as the shell takes it
 */
export function roleFix(url: string, role: string, clientId: string | undefined, scope: string): string {
  const assign = `az role assignment create --assignee ${shellWord(clientId ?? '<clientId>')} --role "${role}" --scope ${scope}`
  return fixFor(
    url,
    emulatorFixes.role(role, clientId),
    `assign the role, and allow a few minutes until it counts:\n${assign}`,
  )
}

const configuration = 'its configuration (emulate --config FILE, read again when it changes)'

/** What to do about a refusal of the emulator. */
export const emulatorFixes = {
  client: `emulate prints its clients with their secrets at its start; or add this client to clients in ${configuration}`,
  role: (role: string, clientId: string | undefined) =>
    `add the role to the roles of the client in ${configuration}:\nclients: [{ clientId: ${clientId ?? '…'}, roles: [${role}] }]`,
  provider: (subscriptionId: string) =>
    `set registered in ${configuration}:\nsubscriptions: [{ id: ${subscriptionId}, registered: true }]`,
  scope:
    'emulate prints the scope of each topic at its start, and emulator.topic(NAME).id is it in code; or add the resource ' +
    `to topics, namespaces or subscriptions in ${configuration}`,
  key: (field: string) => `set ${field} to the key of the topic, which emulate prints at its start`,
  topic: `set topicEndpoint to an endpoint that emulate prints at its start; or add the topic to topics in ${configuration}`,
} as const
