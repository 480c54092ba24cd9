import { expect, it } from 'vitest'
import { commandHelp, commandNames } from '../../documents/command-options.ts'

it.each(commandNames)('fits the help of %s into 80 columns', async (name) => {
  expect((await commandHelp(name)).split('\n').filter((line) => line.length > 80)).toEqual([])
})

it('wraps the explanation of an option in its column', async () => {
  const help = await commandHelp('emulate')
  expect(help).toContain(
    '  --config FILE        topics, subscriptions, clients and their roles, ports,\n' +
      '                       ingress (YAML); read again when it changes\n',
  )
})
