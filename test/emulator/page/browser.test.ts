import { exec } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserMissing, launchBrowser } from '../../support/browser.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { openShop, shopSecrets, showPage, tabTo } from './open-page.ts'

describe.skipIf(browserMissing)('the emulator’s page in Chromium (skipped where none is on the PATH)', () => {
  let browser: Browser
  let page: Page

  // The first start of Chromium on a machine reads 300 MB, beside all other tests.
  beforeAll(async () => {
    browser = await launchBrowser()
    page = await browser.newPage({ timezoneId: 'UTC' })
    page.setDefaultTimeout(10_000)
  }, 180_000)
  afterAll(() => browser?.close())

  it('shows topics, and event subscriptions with their state, handshake and filter', async () => {
    const { emulator } = await openShop({}, { filter: { includedEventTypes: ['Shop.OrderPlaced'] } })
    await showPage(page, emulator)
    const subscription = page.locator('#subscriptions li', { hasText: 'billing' })
    await subscription.locator('.state', { hasText: 'Succeeded' }).waitFor()
    await subscription.locator('summary').click()
    const told = await subscription.locator('dl').innerText()
    expect(told).toMatch(/validated \(OPTIONS, 200\)/)
    expect(told).toContain('type is Shop.OrderPlaced')
    expect(told).toContain('x-shop: (redacted)')
    expect(await subscription.locator('.where').innerText()).toBe(
      'orders → https://shop.example.com/billing?(redacted)',
    )
    emulator.addTopic({ name: 'returns' })
    await page.locator('#topics li', { hasText: 'returns' }).waitFor()
    expect(await page.locator('#topic-count').innerText()).toBe('2')
  })

  it('follows an event live while its delivery is tried again and dead-lettered, and says when and why', async () => {
    const { emulator, clock, subscriber, publish } = await openShop({}, { retryPolicy: { maxDeliveryAttempts: 2 } })
    await showPage(page, emulator)
    subscriber.answer({ status: 503 }, { status: 503 })
    await publish({ subject: 'orders/4711' })
    const row = page.locator('#events tr', { hasText: 'orders/4711' })
    const fate = row.locator('.fate')
    await fate.filter({ hasText: /^billing 503 · try 2 in \d+ s$/ }).waitFor()
    await clock.advance(60_000)
    await fate.filter({ hasText: 'billing to be dead-lettered: too many tries (503)' }).waitFor()
    await clock.advance(3_600_000)
    await fate.filter({ hasText: 'billing dead-lettered: too many tries (503)' }).waitFor()
    for (const [name, count] of [
      ['published', '1'],
      ['failed', '2'],
      ['deadLettered', '1'],
      ['pending', '0'],
    ]) {
      await page.locator(`[data-total="${name}"]`, { hasText: new RegExp(`^${count}$`) }).waitFor()
    }
  })

  it('shows body, headers and every try of the event that is clicked, and no secret', async () => {
    const { emulator, clock, subscriber, publish } = await openShop()
    await showPage(page, emulator)
    subscriber.answer({ status: 503 })
    await publish({ data: { amount: 129.5 }, subject: 'orders/4711' })
    await page.locator('.fate[data-state="waiting"]').waitFor()
    await page.locator('#events tr').click()
    const dialog = page.locator('#detail')
    await dialog.locator('summary', { hasText: 'Try 1' }).waitFor()
    // It stays up to date while it is open.
    await clock.advance(60_000)
    await dialog.locator('summary', { hasText: /^Try 2 .* 200/ }).waitFor()
    const tries = dialog.locator('details')
    expect(await tries.count()).toBe(2)
    // What was open stays open.
    expect(await dialog.locator('details[open]').count()).toBe(2)
    expect(await dialog.locator('pre').first().innerText()).toMatch(/"amount": 129.5/)
    // The newest try is open by itself.
    const headers = await tries.first().locator('table').first().innerText()
    expect(headers).toMatch(/aeg-event-type\s+Notification/i)
    expect(headers).toMatch(/x-shop\s+\(redacted\)/i)
    // The body of the event is there once, and each try shows its answer.
    expect(await dialog.getByText('129.5').count()).toBe(1)
    expect(await tries.first().locator('table').nth(1).innerText()).toMatch(/^Answer: 200[\s\S]*date\s/)
    const all = await page.content()
    for (const secret of [...Object.values(shopSecrets), emulator.clientSecret, emulator.topic().key]) {
      expect(all).not.toContain(secret)
    }
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'hidden' })
  })

  it('shows the beginning of the answer of a try', async () => {
    const { emulator, subscriber, publish } = await openShop()
    await showPage(page, emulator)
    const body = `{"reason": "closed on Sundays", "more": "${'x'.repeat(5000)}"}`
    subscriber.answer({ status: 400, headers: { 'x-shop-state': 'closed', 'set-cookie': 'session=swordfish' }, body })
    await publish({})
    await page.locator('#events tr').click()
    const answer = page.locator('#detail').getByRole('region', { name: 'The answer to try 1' })
    expect(await answer.innerText()).toContain('closed on Sundays')
    expect((await answer.innerText()).length).toBe(4096)
    const headers = await page.locator('#detail table', { hasText: 'Answer: 400' }).innerText()
    expect(headers).toMatch(/x-shop-state\s+closed/)
    expect(headers).toMatch(/set-cookie\s+\(redacted\)/)
  })

  it('delivers an event once more, and copies a try as a curl command', async () => {
    const { emulator, clock, subscriber, publish } = await openShop()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await showPage(page, emulator)
    subscriber.answer({ status: 400 })
    await publish({ id: 'o-1', data: { note: "it's new" } })
    await page.locator('.fate[data-state="given up"]').waitFor()
    await page.locator('#events tr').click()
    const redeliver = page.getByRole('button', { name: 'Redeliver' })
    // It is not dead-lettered yet.
    expect(await redeliver.getAttribute('aria-disabled')).toBe('true')
    await clock.advance(3_600_000)
    await page.locator('#detail .fate[data-state="dead-lettered"]').waitFor()
    await redeliver.click()
    await page.locator('#detail .fate[data-state="delivered"]').waitFor()
    await page.locator('#detail button:focus', { hasText: 'Redeliver' }).waitFor()
    expect(subscriber.deliveries().map(({ body }) => JSON.parse(body).id)).toEqual(['o-1', 'o-1'])

    await page.getByRole('button', { name: 'Copy as curl' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const curl = await page.evaluate<string>('navigator.clipboard.readText()')
    await promisify(exec)(curl)
    const [, sent, copied] = subscriber.deliveries()
    expect(copied?.body).toBe(sent?.body)
    expect(copied?.headers['aeg-subscription-name']).toBe('BILLING')
    expect(copied?.headers.host).toBe('shop.example.com')
    // The page does not know it.
    expect(copied?.headers).not.toHaveProperty('x-shop')
  })

  it('leads to an event by its address', async () => {
    const { emulator, publish } = await openShop()
    await publish({ id: 'a/1 & 2', subject: 'orders/4711' }, { id: 'another' })
    await emulator.idle()
    await showPage(page, emulator)
    await page.locator('#events tr', { hasText: 'orders/4711' }).click()
    const link = await page.getByRole('link', { name: 'Link to this event' }).getAttribute('href')
    await page.waitForURL(`${emulator.proxy}/${link}`)
    await page.getByRole('button', { name: 'Close' }).click()
    await page.waitForURL(`${emulator.proxy}/`)
    // A new document, as in another window.
    await page.goto('about:blank')
    await page.goto(`${emulator.proxy}/${link}`)
    await page.locator('#detail dd', { hasText: 'a/1 & 2' }).waitFor()
  })

  it('finds events by their bodies, those too that come while it searches', async () => {
    const { emulator, publish } = await openShop()
    await showPage(page, emulator)
    await publish({ subject: 'one', data: { note: 'Purple' } }, { subject: 'two' })
    await page.locator('#events tr', { hasText: 'one' }).waitFor()
    await page.locator('#find').fill('purple')
    const rows = page.locator('#events tr:visible')
    await rows.filter({ hasText: 'one' }).waitFor()
    await publish({ subject: 'three', data: { note: 'purple too' } })
    await rows.filter({ hasText: 'three' }).waitFor()
    expect(await rows.count()).toBe(2)
  })

  it('shows no counts until it is connected', async () => {
    const { emulator } = await openShop()
    await page.route('**/page/stream', () => {})
    await page.goto(emulator.proxy, { waitUntil: 'commit' })
    await page.locator('#connection', { hasText: 'Connecting…' }).waitFor()
    expect(new Set(await page.locator('[data-total]').allInnerTexts())).toEqual(new Set(['–']))
    expect(await page.locator('#no-events').innerText()).toBe('Connecting…')
    await page.goto('about:blank')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it.each([
    { device: 'a desk', width: 1280, height: 800 },
    { device: 'a phone', width: 390, height: 844 },
  ])('keeps the form to publish within reach on $device, however many events there are', async ({ width, height }) => {
    const { emulator, publish } = await openShop()
    await showPage(page, emulator)
    await page.setViewportSize({ width, height })
    await publish(...Array.from({ length: 300 }, (_, index) => ({ subject: `orders/${index}` })))
    await page.locator('[data-total="published"]', { hasText: '300' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(2.5 * height)
    await page.locator('#events tr').last().scrollIntoViewIfNeeded()
    const top = await page.evaluate<number>('document.querySelector("#publish").getBoundingClientRect().top')
    expect(top).toBeLessThan(1.5 * height)
    if (width > 960) expect(top).toBeGreaterThan(0)
  })

  it('shows the queues of namespace topics with what is in them', async () => {
    const { emulator } = await openShop({
      namespaces: [{ name: 'shop', topics: [{ name: 'parcels', eventSubscriptions: [{ name: 'packing' }] }] }],
    })
    await showPage(page, emulator)
    const { endpoint, key, namespaceEndpoint } = emulator.namespaceTopic('parcels')
    const send = (url: string, type: string, body: unknown) =>
      fetch(`${url.replace(emulator.endpoints.topics, emulator.proxy)}?api-version=2024-06-01`, {
        method: 'POST',
        headers: { authorization: `SharedAccessKey ${key}`, 'content-type': type },
        body: JSON.stringify(body),
      })
    const parcel = { specversion: '1.0', source: '/shop', type: 'parcel.packed', data: {} }
    const events = ['1', '2', '3'].map((id) => ({ ...parcel, id }))
    expect((await send(endpoint, 'application/cloudevents-batch+json; charset=utf-8', events)).status).toBe(200)
    const queue = page.getByRole('region', { name: 'Queues of namespace topics' }).getByRole('listitem')
    await queue.filter({ hasText: /packing\s*shop\/parcels · 3 available, 0 locked/ }).waitFor()
    const queueUrl = `${namespaceEndpoint}/topics/parcels/eventsubscriptions/packing`
    const received = await send(`${queueUrl}:receive`, 'application/json', {})
    const [, lockToken = ''] = /"lockToken": ?"([^"]+)"/.exec(await received.text()) ?? []
    await queue.filter({ hasText: '2 available, 1 locked' }).waitFor()
    await send(`${queueUrl}:reject`, 'application/json', { lockTokens: [lockToken] })
    await queue.locator('summary').click()
    await queue.locator('dl', { hasText: /Locked\s*0[\s\S]*Dead-lettered\s*1/ }).waitFor()
    const topic = page.locator('#topics > li').filter({ hasText: /shop\/parcels\s*namespace topic/ })
    await topic.locator('summary').click()
    await topic.locator('dl', { hasText: endpoint }).waitFor()
  })

  it('shows a domain with its topics, and a system topic with its source', async () => {
    const source = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos'
    const { emulator } = await openShop({ domains: [{ name: 'shop' }], systemTopics: [{ name: 'uploads', source }] })
    await showPage(page, emulator)
    const topics = page.locator('#topics > li')
    const domain = topics.filter({ hasText: /shop\s*domain, CloudEvents/ })
    await domain.locator('summary').click()
    await domain.locator('dl', { hasText: /Topics\s*none/ }).waitFor()
    const systemTopic = topics.filter({ hasText: /uploads\s*system topic/ })
    await systemTopic.locator('summary').click()
    await systemTopic.locator('dl', { hasText: source }).waitFor()
  })

  it('names its parts for a screen reader', async () => {
    const { emulator, publish } = await openShop()
    await publish({ subject: 'orders/4711' })
    await emulator.idle()
    await showPage(page, emulator)
    for (const [role, name] of [
      ['banner', undefined],
      ['main', undefined],
      ['complementary', undefined],
      ['status', undefined],
      ['table', 'The latest events, newest first'],
      ['columnheader', 'Result'],
      ['searchbox', 'Find by type, subject, id or body'],
      ['combobox', 'Show events'],
      ['button', 'Shop.OrderPlaced'],
      ['region', 'Publish'],
      ['region', 'Event subscriptions'],
      ['slider', /published and delivered/],
    ] as const) {
      await page
        .getByRole(role, { ...(name !== undefined && { name }) })
        .first()
        .waitFor()
    }
    await page.getByRole('button', { name: 'Shop.OrderPlaced' }).click()
    const dialog = page.getByRole('dialog', { name: 'Shop.OrderPlaced' })
    await dialog.getByRole('region', { name: 'The event’s body' }).waitFor()
    await dialog.getByRole('table', { name: 'Answer: 200' }).waitFor()
  })

  it('publishes a sample, tells what the topic refuses, and what is no JSON before it is sent', async () => {
    const { emulator, subscriber } = await openShop()
    await showPage(page, emulator)
    const [result, event] = [page.locator('#published'), page.locator('#event')]
    const submit = page.locator('#publish button')
    await page.locator('#sample').selectOption({ label: 'A reading' })
    await submit.click()
    await result.filter({ hasText: 'Accepted' }).waitFor()
    await page.locator('#events tr', { hasText: 'Greenhouse.TemperatureMeasured' }).waitFor()
    await subscriber.received(1)

    await event.fill('{"specversion": "1.0", "type": "no source"}')
    await submit.click()
    await result.filter({ hasText: /^400 BadRequest: .*source/ }).waitFor()

    await event.fill('{"specversion": ')
    await submit.click()
    await result.filter({ hasText: /^This is not JSON: / }).waitFor()
    expect(emulator.records.requests.all().filter(({ url }) => url.includes('/topics/'))).toHaveLength(2)
  })

  it('is used by keyboard alone', async () => {
    const { emulator, subscriber, publish } = await openShop()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await publish({ subject: 'orders/4711' })
    await emulator.idle()
    await showPage(page, emulator)
    const { keyboard } = page
    await tabTo(page, '.skip')
    await keyboard.press('Enter')
    await tabTo(page, '#find')
    await keyboard.type('nothing like it')
    await page.locator('#no-events', { hasText: 'No event matches' }).waitFor()
    await keyboard.press('Control+A')
    await keyboard.type('4711')
    await tabTo(page, '#pause')
    await keyboard.press('Space')
    await page.locator('#pause[aria-pressed="true"]').waitFor()
    await tabTo(page, '#events button')
    await keyboard.press('Enter')
    await page.locator('#detail summary', { hasText: 'Try 1' }).waitFor()
    await tabTo(page, '#detail [data-focus^=redeliver]')
    await keyboard.press('Enter')
    await expect.poll(() => subscriber.deliveries()).toHaveLength(2)
    await page.locator('#detail details').nth(1).waitFor()
    await tabTo(page, '#detail summary')
    await keyboard.press('Enter')
    await page.locator('#detail details:not([open])').waitFor({ state: 'attached' })
    await keyboard.press('Enter')
    await tabTo(page, '#detail [data-focus^=curl]')
    await keyboard.press('Enter')
    await page.locator('#detail button:focus', { hasText: 'Copied' }).waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(/^curl -i /)
    await keyboard.press('Escape')
    await page.locator('#events button:focus').waitFor()
    await tabTo(page, '#sample')
    await keyboard.press('ArrowDown')
    await tabTo(page, '#event')
    await keyboard.press('Control+Enter')
    await page.locator('#published', { hasText: 'Accepted' }).waitFor()
    await tabTo(page, '#subscriptions summary')
    await keyboard.press('Enter')
    await page.locator('#subscriptions details[open]').waitFor()
    await tabTo(page, '.skip')
    await tabTo(page, '#throughput svg')
    await keyboard.press('Home')
    const plot = page.getByRole('slider', { name: /published and delivered/ })
    expect(await plot.getAttribute('aria-valuetext')).toBe('14:05:10: published 0, delivered 0, failed pushes 0')
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
  })

  it.each(['light', 'dark'] as const)('is legible in %s mode: each text stands out 4.5 to 1', async (colorScheme) => {
    const { emulator, subscriber, publish, clock } = await openShop({}, { retryPolicy: { maxDeliveryAttempts: 2 } })
    subscriber.answer({ status: 400 }, { status: 503 })
    await publish({ id: 'lost' }, { id: 'late' }, { id: 'arrived' })
    await clock.advance(1_000)
    await showPage(page, emulator, { colorScheme })
    await page.locator('.fate[data-state="waiting"]').waitFor()
    await page.locator('#subscriptions summary').click()
    const script = await readFile(new URL('contrast.js', import.meta.url), 'utf8')
    const whole = await page.evaluate<Contrast>(script)
    await page.locator('#events tr').first().click()
    await page.locator('#detail summary').waitFor()
    const withDialog = await page.evaluate<Contrast>(script)
    expect([whole.faults, withDialog.faults]).toEqual([[], []])
    expect(whole.texts).toBeGreaterThan(60)
    expect(withDialog.texts).toBeGreaterThan(whole.texts)
    expect(whole.page > 0.5).toBe(colorScheme === 'light')
  })

  it('needs no scrolling sideways in a narrow window', async () => {
    const { emulator, publish } = await openShop()
    await publish({ type: `Shop.${'Long'.repeat(60)}`, subject: 'x'.repeat(400) })
    await showPage(page, emulator)
    await page.locator('#events tr').waitFor()
    await page.locator('#subscriptions summary').click()
    for (const width of [320, 800, 1280]) {
      await page.setViewportSize({ width, height: 700 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
  })

  it('stays quick and small with ten thousand events', async () => {
    const { emulator, publish } = await openShop(
      {},
      {
        destination: {
          endpointType: 'WebHook',
          properties: {
            endpointUrl: 'https://shop.example.com/',
            maxEventsPerBatch: 5000,
            preferredBatchSizeInKilobytes: 1024,
          },
        },
      },
    )
    await showPage(page, emulator)
    await page.evaluate(`longest = 0; new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
    }).observe({ type: 'longtask' })`)
    const five = Array.from({ length: 5000 }, (_, index) => ({ subject: `orders/${index}` }))
    await publish(...five)
    await publish(...five)
    await publish({ subject: 'the last one' })
    await page.locator('[data-total="delivered"]', { hasText: '10,001' }).waitFor()
    await page.locator('#find').fill('the last')
    await page.locator('#events tr:visible .fate[data-state="delivered"]').waitFor()
    expect(await page.locator('#events tr').count()).toBeLessThanOrEqual(400)
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(6000)
    expect(await page.evaluate('longest')).toBeLessThan(2000)
  })

  it('shows hostile content as text', async () => {
    const hostile = '</td><img src=x onerror="hacked=1"><script>hacked=1</script>'
    const { emulator, publish } = await openShop(
      {},
      { filter: { subjectBeginsWith: '</td>', subjectEndsWith: '<script>hacked=1</script>' } },
    )
    await publish({ id: hostile, type: hostile, subject: hostile, data: { [hostile]: hostile } })
    await showPage(page, emulator)
    await page.locator('#events tr', { hasText: hostile }).click()
    await page.locator('#detail-title', { hasText: hostile }).waitFor()
    expect(await page.locator('#detail pre').first().innerText()).toContain('onerror=')
    expect(await page.locator('[onerror], #events img, dialog img, main script, dialog script').count()).toBe(0)
    expect(await page.evaluate('typeof hacked')).toBe('undefined')
  })

  it('holds still on request, and finds events by text and by what became of them', async () => {
    const { emulator, subscriber, publish } = await openShop()
    await showPage(page, emulator)
    const rows = page.locator('#events tr:visible')
    subscriber.answer({ status: 503 })
    await publish({ subject: 'refused' })
    await page.locator('.fate[data-state="waiting"]').waitFor()
    await page.locator('#pause').click()
    await publish({ subject: 'accepted' })
    await page.locator('#pause', { hasText: 'Resume (1 new)' }).click()
    await page.locator('#events tr', { hasText: 'accepted' }).waitFor()
    await page.locator('#show').selectOption('waiting')
    expect(await rows.allInnerTexts()).toEqual([expect.stringContaining('refused')])
    await page.locator('#show').selectOption('all')
    await page.locator('#find').fill('ACCEPTED')
    expect(await rows.allInnerTexts()).toEqual([expect.stringContaining('accepted')])
  })

  it('lets go of its stream while nobody sees it, and takes it up again', async () => {
    const { emulator, publish } = await openShop()
    await showPage(page, emulator)
    const see = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    const streams = async () => (await fetch(`${emulator.proxy}/page/state`)).json()
    await see(true)
    await expect.poll(streams).toMatchObject({ stream: { clients: 0 } })
    await publish({ subject: 'meanwhile' })
    await see(false)
    await page.locator('#events tr', { hasText: 'meanwhile' }).waitFor()
  })

  it('says that the emulator is away, and shows the next one’s events once it is there', async () => {
    const { emulator, clock, publish } = await openShop()
    await publish({ id: 'first', subject: 'of the former emulator' })
    await showPage(page, emulator, { forgive: /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/ })
    await page.locator('#events tr', { hasText: 'of the former emulator' }).waitFor()
    await emulator.close()
    await page.locator('#connection', { hasText: 'No connection to the emulator' }).waitFor()
    const next = await startEmulator({ clock, httpPort: Number(new URL(emulator.proxy).port) })
    next.raise(next.topic().id, [
      { specversion: '1.0', id: 'second', source: '/shop', type: 'Shop.OrderPaid', subject: 'of the next emulator' },
    ])
    await page.locator('#events tr', { hasText: 'of the next emulator' }).waitFor()
    expect(await page.locator('#events tr').count()).toBe(1)
    await page.locator('#connection', { hasText: 'Live' }).waitFor()
  })
})

/** What contrast.js tells. */
interface Contrast {
  readonly texts: number
  readonly faults: readonly string[]
  /** Luminance of the page's background: 0 is black, 1 white. */
  readonly page: number
}
