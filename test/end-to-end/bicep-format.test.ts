// `format` in the Bicep files and pages gives what is meant: .NET takes a brace for the place of an argument.
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseComponents } from 'eventgrid-binding'
import { expect, it } from 'vitest'
import { parseMetadata } from '../../src/metadata/typed/parse-metadata.ts'
import { evaluateFormats, formatDotNet, parseBicep } from '../support/bicep.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const files = (pattern: string) => globSync(pattern, { cwd: root, exclude: (name) => name.endsWith('node_modules') })
const pages = [...files('*.md'), ...files('{docs,examples,packages}/**/*.md')]
const sources = [
  ...files('{docs,examples,packages}/**/*.bicep').map((file) => ({ file, text: read(file) })),
  ...pages.flatMap((file) =>
    [...read(file).matchAll(/^ *```bicep\n(.*?)^ *```/gms)].map(([, text = '']) => ({ file, text })),
  ),
]

it.each([
  { shape: 'a {0} {1}', given: ['x', 'y'], expected: 'a x y' },
  { shape: '{{ name: {0} }}', given: ['x'], expected: '{ name: x }' },
  { shape: '{{{0}}}', given: ['x'], expected: '{x}' },
  { shape: '{0,3}|{0,-3}|', given: ['x'], expected: '  x|x  |' },
  { shape: '{0:D2}', given: ['x'], expected: 'x' },
])('String.Format of $shape is $expected', ({ shape, given, expected }) => {
  expect(formatDotNet(shape, given)).toBe(expected)
})

it.each(['{ name: {0} }', '{0', '}', '{name}', '{1}', '{}'])('String.Format refuses %s', (shape) => {
  expect(() => formatDotNet(shape, ['x'])).toThrow(/String\.Format/)
})

it('finds the calls of a template', async () => {
  const tree = await parseBicep(
    `param name string = 'orders'\nvar shape = '''\n{{ {0} }}'''\nvar a = format(shape, 'to-\${name}')\n`,
  )
  expect(evaluateFormats(tree)).toEqual(['{ to-orders }'])
})

it.each(sources)('each format() of $file is one that .NET takes', async ({ text }) => {
  const tree = await parseBicep(text)
  expect(evaluateFormats(tree)).not.toContain('')
})

it('the component that container-apps/pull.bicep writes is right', async () => {
  const tree = await parseBicep(read('examples/container-apps/pull.bicep'))
  const topic =
    '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/shop/providers/Microsoft.EventGrid/namespaces/shop/topics/orders'
  const [yaml = ''] = evaluateFormats(tree, {
    'identity.properties.clientId': '44444444-4444-4444-8444-444444444444',
    'topic.id': topic,
    'namespace.properties.topicsConfiguration.hostname': 'shop.westeurope-1.eventgrid.azure.net',
  })
  const [component] = parseComponents(yaml)
  const { pull, output, warnings } = parseMetadata(component?.properties ?? [], { componentName: 'orders' })
  expect(warnings).toEqual([])
  expect(pull).toMatchObject({ eventSubscriptionName: 'orders', provisioning: 'none' })
  expect(output?.topicEndpoint).toBe('https://shop.westeurope-1.eventgrid.azure.net/topics/orders:publish')
})
