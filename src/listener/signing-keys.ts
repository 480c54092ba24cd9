import { type CryptoKey, importJWK, type JSONWebKeySet, type JWK } from 'jose'

/** A key by its id; `unknown`: the issuer has just said that it has no such key; `unavailable`: nobody can tell now. */
type KeyAnswer = CryptoKey | 'unknown' | 'unavailable'

/** The issuer's signing keys. */
export interface SigningKeys {
  find(keyId: string): Promise<KeyAnswer>
}

export interface SigningKeysOptions {
  /** Gets the issuer's key set; throws when that fails. */
  readonly fetchKeySet: () => Promise<JSONWebKeySet>
  /** Milliseconds. */
  readonly now: () => number
  /** Told of each failed fetch. */
  readonly onFailure?: (error: unknown) => void
  /** Older keys are fetched again, and used meanwhile and when that fails. @default 43_200_000 (12 h) */
  readonly maxAgeMs?: number
  /** Time between two fetches for key ids that the set lacks, and after a failed one, so that strange tokens cause no storm. @default 30_000 */
  readonly cooldownMs?: number
}

/** Most keys of a set that are looked at. */
const maxKeys = 100

export function createSigningKeys({
  fetchKeySet,
  now,
  onFailure = () => {},
  maxAgeMs = 12 * 60 * 60_000,
  cooldownMs = 30_000,
}: SigningKeysOptions): SigningKeys {
  let keys: ReadonlyMap<string, CryptoKey> = new Map()
  let triedAt = Number.NEGATIVE_INFINITY
  let fetchedAt = Number.NEGATIVE_INFINITY
  let underWay: Promise<boolean> | undefined

  /** True when the set is fresh afterwards. Calls at the same time share one fetch. */
  function refresh(): Promise<boolean> {
    underWay ??= load().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  async function load(): Promise<boolean> {
    triedAt = now()
    try {
      keys = await importKeys(await fetchKeySet())
      fetchedAt = now()
      return true
    } catch (error) {
      onFailure(error)
      return false
    }
  }

  const coolingDown = () => underWay === undefined && now() - triedAt < cooldownMs

  return {
    async find(keyId) {
      const known = keys.get(keyId)
      if (known) {
        if (now() - fetchedAt > maxAgeMs && !coolingDown()) void refresh()
        return known
      }
      // The key may be newer than our set, so within the cooldown nobody can say that it does not exist.
      if (coolingDown() || !(await refresh())) return 'unavailable'
      return keys.get(keyId) ?? 'unknown'
    },
  }
}

async function importKeys(set: JSONWebKeySet): Promise<ReadonlyMap<string, CryptoKey>> {
  const imported = new Map<string, CryptoKey>()
  for (const jwk of set.keys.slice(0, maxKeys)) {
    const key = await importKey(jwk)
    if (key && jwk.kid) imported.set(jwk.kid, key)
  }
  if (imported.size === 0) throw new Error('the key set holds no usable key')
  return imported
}

/** A key that is not for RS256 signatures, or is broken, does not spoil the set. */
async function importKey(jwk: JWK): Promise<CryptoKey | undefined> {
  if (jwk.kty !== 'RSA' || (jwk.use ?? 'sig') !== 'sig') return undefined
  try {
    const key = await importJWK({ kty: 'RSA', n: jwk.n ?? '', e: jwk.e ?? '' }, 'RS256')
    return key instanceof Uint8Array || !isLongEnough(key) ? undefined : key
  } catch {
    return undefined
  }
}

/** RS256 asks for 2,048 bits (RFC 7518, section 3.3); an import takes fewer, and none at all. */
function isLongEnough({ algorithm }: CryptoKey): boolean {
  return 'modulusLength' in algorithm && Number(algorithm.modulusLength) >= 2_048
}
