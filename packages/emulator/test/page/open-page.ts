import { type ConsoleMessage, errors, type Page, type Request } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import type { EventGridEmulator, EventGridEmulatorOptions } from '../../src/index.ts'
import { ManualClock } from '../../src/model/time/clock.ts'
import { type Subscriber, startSubscriber } from '../subscriber.ts'

/** What must be seen nowhere on the page. */
export const shopSecrets = { attribute: 'swordfish', query: 'letmein' }

/** An emulator with the topic `orders`, whose events go to the subscription `billing` of a webhook that answers as it is told. */
export interface Shop {
  readonly emulator: EventGridEmulator
  readonly clock: ManualClock
  readonly subscriber: Subscriber
  /** Publishes CloudEvents, filled in where they lack something. */
  publish(...events: readonly Readonly<Record<string, unknown>>[]): Promise<void>
}

/** Opens the shop; the test's end closes it. @param properties of the subscription, in ARM's shape */
export async function openShop(
  options: EventGridEmulatorOptions = {},
  properties: Readonly<Record<string, unknown>> = {},
): Promise<Shop> {
  const subscriber = await startSubscriber()
  const clock = new ManualClock(Date.UTC(2026, 0, 5, 14, 7, 9))
  const emulator = await startEmulator({
    clock,
    random: () => 0,
    probation: false,
    ingress: [{ from: 'https://shop.example.com/', to: `${subscriber.url}/` }],
    eventSubscriptions: [{ name: 'billing', properties: { ...billing, ...properties } }],
    ...options,
  })
  await emulator.idle()
  let published = 0
  return {
    emulator,
    clock,
    subscriber,
    async publish(...events) {
      const { httpEndpoint, key } = emulator.topic('orders')
      const sent = await fetch(httpEndpoint, {
        method: 'POST',
        headers: { 'aeg-sas-key': key, 'content-type': 'application/cloudevents-batch+json' },
        body: JSON.stringify(events.map((event) => ({ ...placed, id: `event-${++published}`, ...event }))),
      })
      expect(sent.status).toBe(200)
    },
  }
}

/** Where it delivers to when nothing is secret. */
export const shopWebhook = { endpointType: 'WebHook', properties: { endpointUrl: 'https://shop.example.com/billing' } }

const placed = { specversion: '1.0', source: '/shop/web', type: 'Shop.OrderPlaced', subject: 'orders/1' }

const billing = {
  destination: {
    endpointType: 'WebHook',
    properties: {
      endpointUrl: `https://shop.example.com/billing?code=${shopSecrets.query}`,
      deliveryAttributeMappings: [
        { name: 'x-shop', type: 'Static', properties: { value: shopSecrets.attribute, isSecret: true } },
      ],
    },
  },
  eventDeliverySchema: 'CloudEventSchemaV1_0',
  deadLetterDestination: {
    endpointType: 'StorageBlob',
    properties: {
      resourceId:
        '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/shop',
      blobContainerName: 'letters',
    },
  },
}

/** Has the window show the emulator's page. At the test's end it must have asked for its own files and the test interface alone, and complained of nothing. */
export async function showPage(
  page: Page,
  { proxy }: EventGridEmulator,
  { colorScheme = 'light', forgive }: { readonly colorScheme?: 'light' | 'dark'; readonly forgive?: RegExp } = {},
): Promise<void> {
  const origins = new Set<string>()
  const complaints: string[] = []
  const others: string[] = []
  const asked = (request: Request) => {
    const { origin, pathname } = new URL(request.url())
    origins.add(origin)
    const isOwnFile = pathname === '/' || /^\/page\/[\w-]+\.(js|css|svg|json)$/.test(pathname)
    if (!isOwnFile && !pathname.startsWith('/emulator/')) others.push(pathname)
  }
  const thrown = (error: Error) => void complaints.push(error.message)
  const logged = (message: ConsoleMessage) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    if (!forgive?.test(message.text())) complaints.push(message.text())
  }
  page.on('request', asked).on('pageerror', thrown).on('console', logged)
  onTestFinished(async () => {
    page.off('request', asked).off('pageerror', thrown).off('console', logged)
    await page.goto('about:blank')
    expect({ origins: [...origins], others, complaints }).toEqual({ origins: [proxy], others: [], complaints: [] })
  })
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.setViewportSize({ width: 1280, height: 800 })
  // The page itself says when it is ready.
  await page.goto(proxy, { waitUntil: 'commit' })
  await page.locator('#connection[data-tone="ok"]').waitFor()
}

/** Presses Tab until the focus is on what the selector names. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const focused = page.locator(`:is(${selector}):focus-visible`)
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    if ((await focused.count()) > 0) return
  }
  throw new errors.TimeoutError(`Tab does not reach ${selector}`)
}
