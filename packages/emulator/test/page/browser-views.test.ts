import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserMissing, launchBrowser } from '../support/browser.ts'
import { openShop, showPage } from './open-page.ts'

const sizes = [1440, 1024, 390] as const
const schemes = ['light', 'dark'] as const

describe.skipIf(browserMissing)('each view of the page in Chromium (skipped where none is on the PATH)', () => {
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    browser = await launchBrowser()
    page = await browser.newPage({ timezoneId: 'UTC' })
    page.setDefaultTimeout(10_000)
  }, 180_000)
  afterAll(() => browser?.close())

  it.each(sizes.flatMap((width) => schemes.map((colorScheme) => ({ width, colorScheme }))))(
    'axe finds no violation, and nothing sticks out, $width px wide and $colorScheme',
    async ({ width, colorScheme }) => {
      const { emulator, subscriber, publish, clock } = await openShop(
        {
          probation: { afterFailures: 3 },
          namespaces: [{ name: 'shop', topics: [{ name: 'parcels', eventSubscriptions: [{ name: 'packing' }] }] }],
          domains: [{ name: 'market' }],
        },
        { retryPolicy: { maxDeliveryAttempts: 2 }, filter: { includedEventTypes: ['Shop.OrderPlaced'] } },
      )
      const busy = { status: 503 }
      subscriber.answer({ status: 200 }, { status: 400 }, busy, busy, busy)
      await publish({ id: 'arrived' }, { id: 'unmatched', type: 'Shop.Opened' })
      await subscriber.received(1)
      await publish({ id: 'lost' })
      await subscriber.received(2)
      await publish({ id: '1' }, { id: '2', type: `Shop.OrderPlaced`, subject: 'x'.repeat(400) }, { id: '3' })
      await subscriber.received(5)
      await clock.advance(1_000)
      await fetch(emulator.topic('orders').httpEndpoint, { method: 'POST', body: '[]' })
      await showPage(page, emulator, { colorScheme })
      await page.setViewportSize({ width, height: 844 })
      await page.locator('#refused tr').waitFor()
      await page.locator('#subscriptions .fate', { hasText: 'held back' }).waitFor()
      await page.evaluate(axe.source)

      const found: string[] = []
      const look = async (view: string) => {
        const faults = await page.evaluate<string[]>(`(async () => {
        const { violations } = await axe.run()
        const { scrollWidth, scrollHeight } = document.documentElement
        const end = Math.max(...[...document.querySelectorAll('.columns > *')].map((one) => one.getBoundingClientRect().bottom))
        return [
          ...violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target, failureSummary].join(' '))),
          ...(scrollWidth > innerWidth ? ['wider than the window'] : []),
          ...(scrollHeight > Math.max(innerHeight, end + scrollY + 40) ? ['empty at its end'] : []),
        ]
      })()`)
        found.push(...faults.map((fault) => `${view}: ${fault}`))
      }
      await look('closed')
      for (const summary of await page.locator('aside summary, main > details summary').all()) await summary.click()
      await page.locator('#throughput svg').first().waitFor()
      await look('everything open')
      await page.locator('#events tr', { hasText: '400' }).first().click()
      await page.locator('#detail .try').waitFor()
      await look('an event')
      await page.getByRole('button', { name: 'Close' }).click()
      await page.locator('#filter-text').fill('nothing like it')
      await page.locator('#no-events', { hasText: 'No event matches' }).waitFor()
      await look('nothing found')
      await page.goto(`${emulator.proxy}/#event=long+ago`)
      await page.locator('#detail', { hasText: 'No event with the key long ago is stored' }).waitFor()
      await look('an event that is gone')
      expect(found).toEqual([])
    },
  )

  it('cuts no placeholder and no choice of a filter at any width', async () => {
    const { emulator } = await openShop()
    await showPage(page, emulator)
    const tooLong = `[...document.querySelectorAll('.filters :is(input, select)')].flatMap((one) => {
      const texts = one.options ? [...one.options].map(({ text }) => text) : [one.placeholder]
      const style = getComputedStyle(one)
      const canvas = document.createElement('canvas').getContext('2d')
      canvas.font = style.font
      // The arrow of a list, and the cross that empties a field.
      const taken = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight) + 20
      return texts.filter((text) => canvas.measureText(text).width + taken > one.clientWidth)
    })`
    const cut: string[] = []
    for (let width = 320; width <= 1440; width += 20) {
      await page.setViewportSize({ width, height: 844 })
      const told = await page.evaluate<string[]>(tooLong)
      cut.push(...told.map((text) => `${width} px: ${text}`))
    }
    expect(cut).toEqual([])
  })

  it('says that a try is under way, and shows no next try that lies in the past', async () => {
    const { emulator, subscriber, publish, clock } = await openShop({ probation: { afterFailures: 3 } })
    await showPage(page, emulator)
    const next = page.locator('#detail dt:text-is("Next try") + dd')
    const fate = page.locator('#events tr', { hasText: 'slow' }).locator('.fate')
    // The next try comes, and is not answered.
    subscriber.answer({ status: 503 }, undefined)
    await publish({ subject: 'slow' })
    await fate.filter({ hasText: /try 2 in \d+ s$/ }).waitFor()
    await fate.click()
    await next.filter({ hasText: /^5 Jan 2026, 14:07:\d\d$/ }).waitFor()
    // It ends with the silent request, at the test's end.
    void clock.advance(35_000)
    await subscriber.received(2)
    await fate.filter({ hasText: '503 · try 2 under way' }).waitFor()
    await next.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Close' }).click()
  })

  it('does not say that an endpoint is held back when the pause is over', async () => {
    const { emulator, subscriber, publish, clock } = await openShop({ probation: { afterFailures: 3 } })
    await showPage(page, emulator)
    subscriber.answer({ status: 404 }, { status: 404 }, { status: 404 }, undefined, undefined, undefined)
    await publish({ subject: 'one' }, { subject: 'two' }, { subject: 'three' })
    const held = page.locator('.fate', { hasText: 'held back until' })
    await page.locator('#subscriptions li').locator(held).waitFor()
    await page.locator('#events').locator(held).nth(2).waitFor()
    void clock.advance(300_000)
    await subscriber.received(4)
    await expect.poll(() => held.count()).toBe(0)
  })
})
