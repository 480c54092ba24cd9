import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserMissing, launchBrowser } from '../support/browser.ts'
import { openShop, shopWebhook, showPage } from './open-page.ts'

describe.skipIf(browserMissing)('what the page says in Chromium (skipped where none is on the PATH)', () => {
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    browser = await launchBrowser()
    page = await browser.newPage({ timezoneId: 'UTC' })
    page.setDefaultTimeout(10_000)
    await page.clock.install()
  }, 180_000)
  afterAll(() => browser?.close())

  const webhook = (name: string) => ({
    endpointType: 'WebHook',
    properties: { endpointUrl: `https://shop.example.com/${name}` },
  })
  const cloudEvents = { eventDeliverySchema: 'CloudEventSchemaV1_0' }

  it('keeps each fate with its own event subscription while time passes, in the list and in the dialog', async () => {
    const scope =
      '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos'
    const { emulator, subscriber } = await openShop({
      systemTopics: [{ name: 'uploads', source: scope }],
      eventSubscriptions: [
        { name: 'refuses', scope, properties: { destination: webhook('refuses'), ...cloudEvents } },
        { name: 'takes', scope, properties: { destination: webhook('takes'), ...cloudEvents } },
        { name: 'waits', scope, properties: { destination: webhook('waits'), ...cloudEvents } },
      ],
    })
    subscriber.answerTo('/refuses', { status: 400 })
    subscriber.answerTo('/waits', { status: 503 })
    await showPage(page, emulator)
    emulator.raise(scope, [
      { specversion: '1.0', id: 'one', source: scope, type: 'Microsoft.Storage.BlobCreated', subject: 'x' },
    ])
    const told = [/^refuses dropped: the answer was 400$/, /^takes delivered · /, /^waits 503 · try 2 in /]
    const row = page.locator('#events tr')
    for (const text of told) await row.locator('.fate', { hasText: text }).waitFor()
    await row.click()
    for (const text of told) await page.locator('#detail h3 .fate', { hasText: text }).waitFor()
    // Each second the page counts the time down that is left to the next tries.
    await page.clock.runFor(2_000)
    for (const list of [row, page.locator('#detail h3')]) {
      const texts = await list.locator('.fate').allInnerTexts()
      expect(texts).toEqual(told.map((text) => expect.stringMatching(text)))
    }
  })

  it('finds what failed or waits after many events, counts what is left out, and has buttons and fields of one height', async () => {
    const { emulator, subscriber, publish } = await openShop({}, { destination: shopWebhook, retryPolicy: {} })
    await showPage(page, emulator)
    subscriber.answer({ status: 400 }, { status: 503 })
    await publish({ subject: 'fails' })
    await emulator.idle()
    await publish({ subject: 'waits' })
    await emulator.idle()
    await publish(...Array.from({ length: 1000 }, (_, index) => ({ subject: `orders/${index}` })))
    await emulator.idle()
    await page.locator('#left-out', { hasText: '702 more are left out' }).waitFor()
    await page.locator('#events tr', { hasText: 'fails' }).waitFor()
    await page.locator('#events tr', { hasText: 'waits' }).waitFor()
    expect(await page.locator('#events tr').count()).toBe(300)
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll(':is(button, input, select):not(.link)')].map((one) => one.offsetHeight).filter((height) => height > 0)`,
    )
    expect(new Set(heights).size).toBe(1)
  })
})
