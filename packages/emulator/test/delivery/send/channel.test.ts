import { expect, it } from 'vitest'
import { type Channel, firstChannel } from '../../../src/delivery/send/channel.ts'
import type { EventSubscription } from '../../../src/model/resources/event-subscription.ts'

const subscriptionOf = (name: string): EventSubscription => ({
  ...{ id: name, scope: '/s', name, provisioningState: 'Succeeded', createdAt: 0, properties: {} },
})

it('is the first that fits an event subscription, made once for it', () => {
  const asked: string[] = []
  const channelsOf = (fits: string) => (subscription: EventSubscription) => {
    asked.push(`${fits} ${subscription.name}`)
    if (!subscription.name.includes(fits)) return undefined
    const channel: Channel = {
      ...{ url: new URL(`https://${fits}.example`), shownUrl: fits, secretHeaders: new Set() },
      prepare: () => Promise.reject(new Error('not asked for')),
    }
    return channel
  }
  const channels = firstChannel(channelsOf('a'), channelsOf('b'))
  const [both, second, none] = [subscriptionOf('a and b'), subscriptionOf('b'), subscriptionOf('none')]
  expect([both, second, none].map((one) => channels(one)?.shownUrl)).toEqual(['a', 'b', undefined])
  expect(channels(both)).toBe(channels(both))
  expect(asked).toEqual(['a a and b', 'a b', 'b b', 'a none', 'b none'])
})
