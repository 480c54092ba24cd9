/** A proxy of the environment matters where a request would go through it, and nowhere else. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { isBypassed, proxyOf, refuseUnusableProxy } from '../../src/azure/proxy.ts'
import { Binding } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { openPull, order } from '../support/open-pull.ts'
import { openWorld } from '../support/open-world.ts'

const names = ['HTTPS_PROXY', 'ALL_PROXY', 'HTTP_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()])

/** Sets these variables of the environment, and no other one of a proxy. */
function useEnvironment(variables: Readonly<Record<string, string>>): void {
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const name of names) vi.stubEnv(name, variables[name])
}

const socks = 'socks5h://127.0.0.1:1080'

/** By every kind of component; each host is one of Azure. No request is sent at init. */
const components = [
  { kind: 'topic', host: 'x.westeurope-1.eventgrid.azure.net', fields: { accessKey: 'key' } },
  {
    kind: 'namespace',
    host: 'shop.westeurope-1.eventgrid.azure.net',
    fields: {
      deliveryMode: 'pull',
      namespaceTopic:
        '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg/providers/Microsoft.EventGrid/namespaces/shop/topics/orders',
      namespaceKey: 'a2V5',
      eventSubscriptionName: 'app',
    },
  },
] as const

function initOf({ kind, host, fields }: (typeof components)[number]): Promise<void> {
  const binding = new Binding()
  onTestFinished(() => binding.close())
  return binding.init({ ...fields, [`${kind}Endpoint`]: `https://${host}` }, { subscription: 'background' })
}

// Which ones are unusable, and what goes past them, is in the tables below.
it.each(components)(
  'init for a $kind names a proxy by which nobody can ask, and not its password',
  async (component) => {
    useEnvironment({ HTTPS_PROXY: 'user:marked-password@proxy.example.com:8080' })
    const init = initOf(component)
    await expect(init).rejects.toMatchObject({
      code: 'METADATA_INVALID',
      issues: [{ field: 'HTTPS_PROXY' }],
      message: expect.stringMatching(/must be an http or https URL; write it with its scheme/),
    })
    await expect(init).rejects.not.toThrow('marked-password')
  },
)

it.each(components)('init for a $kind takes no notice of a proxy of another kind with NO_PROXY', async (component) => {
  useEnvironment({ ALL_PROXY: socks, NO_PROXY: 'localhost, .EventGrid.azure.net ,example.com' })
  await initOf(component)
})

it.each([
  { ALL_PROXY: socks, NO_PROXY: '*' },
  { ALL_PROXY: socks, NO_PROXY: 'localhost,127.0.0.1' },
  // Nothing listens there, and the SDKs would call it all the same.
  { HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '*' },
])('calls Entra, Resource Manager, topic and namespace directly with %o', async (environment) => {
  useEnvironment(environment)
  const world = await openWorld()
  await world.init()
  await world.binding.invoke('create', { order: 1 })
  await world.emulator.settled()
  expect(world.handled).toHaveLength(1)
  const pull = await openPull()
  await pull.binding.init({ ...pull.byCredential, eventSubscriptionName: 'app' })
  await pull.publish(order('one'))
  await eventually(() => expect(pull.events).toHaveLength(1))
})

it.each([
  { url: 'http://169.254.169.254/metadata', list: '', past: true },
  { url: 'http://localhost:40342', list: '', past: true },
  { url: 'https://localhost:40342', list: '', past: false },
  { url: 'http://a.example.com', list: '', past: false },
  { url: 'https://a.example.com', list: ' , ,,', past: false },
  { url: 'https://a.example.com', list: '*', past: true },
  { url: 'https://a.example.com', list: 'x,  EXAMPLE.com', past: true },
  { url: 'https://example.com', list: '*.example.com', past: true },
  { url: 'https://badexample.com', list: 'example.com', past: false },
  { url: 'https://a.example.com.evil.net', list: 'example.com', past: false },
  { url: 'https://a.example.com', list: 'a.example.com:443', past: true },
  { url: 'http://a.example.com', list: 'example.com:80', past: true },
  { url: 'http://a.example.com', list: 'example.com:443', past: false },
  { url: 'https://a.example.com:8443', list: 'example.com:8443', past: true },
  { url: 'https://a.example.com:8443', list: 'example.com:443', past: false },
  { url: 'https://a.example.com', list: ':443', past: false },
  { url: 'https://a.example.com', list: '.example.com', past: true },
  { url: 'https://a.example.com', list: 'localhost .example.com x', past: true },
  { url: 'https://a.example.com', list: 'localhost,127.0.0.1,b.example.com', past: false },
  { url: 'https://a.example.com', list: 'ample.com,example.com:8443', past: false },
])('$url goes past a proxy with NO_PROXY=$list: $past', ({ url, list, past }) => {
  expect(isBypassed(url, { NO_PROXY: list, no_proxy: '' })).toBe(past)
  expect(isBypassed(url, { NO_PROXY: '', no_proxy: list })).toBe(past)
  if (past && list !== '') expect(isBypassed(url, {})).toBe(false)
  if (!past) expect(isBypassed(url, { NO_PROXY: 'other', no_proxy: '*' })).toBe(false)
})

const several = { HTTP_PROXY: 'http://c/', ALL_PROXY: 'http://b/', HTTPS_PROXY: 'http://a/' }

it.each<[name: string, environment: Record<string, string>, expected?: { proxy?: string; field?: string }]>([
  ['none', {}],
  ['an empty one', { HTTPS_PROXY: '' }],
  ['the first of several', several, { proxy: 'http://a/' }],
  ['one in capitals first', { https_proxy: 'http://b/', HTTPS_PROXY: 'http://a/' }, { proxy: 'http://a/' }],
  ['one in small letters', { https_proxy: 'https://a/' }, { proxy: 'https://a/' }],
  ['one that goes for all', { all_proxy: 'http://a/', HTTP_PROXY: 'http://b/' }, { proxy: 'http://a/' }],
  ['one for http', { http_proxy: 'http://a/' }, { proxy: 'http://a/' }],
  ['one that is passed', { HTTPS_PROXY: 'http://a/', NO_PROXY: '*' }],
  ['one of another kind that is passed', { HTTPS_PROXY: 'socks5://a/', NO_PROXY: '*' }],
  ['one of another kind', { ALL_PROXY: 'socks5://a/', HTTP_PROXY: 'http://b/' }, { field: 'ALL_PROXY' }],
  ['one of a longer kind', { https_proxy: 'httpsx://a/' }, { field: 'https_proxy' }],
  ['one of a kind with http in it', { https_proxy: 'xhttp://a/' }, { field: 'https_proxy' }],
  ['one that is no URL', { HTTP_PROXY: 'a:8080/x y' }, { field: 'HTTP_PROXY' }],
  ['one without a scheme', { HTTPS_PROXY: '10.0.0.1:8080' }, { field: 'HTTPS_PROXY' }],
  // No client of the SDKs can be made with it.
  ['one that is no URL, passed', { HTTP_PROXY: '10.0.0.1:8080', NO_PROXY: '*' }, { field: 'HTTP_PROXY' }],
])('a request goes through %s', (_name, environment, { proxy, field } = {}) => {
  const url = 'https://x.example.com'
  expect(proxyOf(url, environment)?.href).toBe(proxy)
  const refuse = expect(() => refuseUnusableProxy(url, environment))
  if (field === undefined) refuse.not.toThrow()
  else
    refuse.toThrow(expect.objectContaining({ code: 'METADATA_INVALID', issues: [expect.objectContaining({ field })] }))
})
