// Holds the API keys of a server, the guard that checks each request against them, and the audit log. Runs on
// the main thread and serves all databases of the server.
import { resolve } from 'node:path';
import { wallMs } from '../../engine/internal.js';
import { Accepted } from '../auth/accepted-credentials.js';
import { isBareDigest } from '../auth/environment-key.js';
import type { Refusal } from '../auth/authenticator.js';
import { KeyUse } from '../auth/key-use.js';
import { Keyring } from '../auth/keys.js';
import { OwnRate, SharedRate, type SharedRates } from '../auth/rate-limiter.js';
import { RequestGuard, type SecurityOptions, type SecurityRules } from '../auth/request-guard.js';
import type { Config } from '../config/config.js';
import { isLoopback } from '../http/address.js';
import type { Exchange } from '../http/exchange.js';
import { AuditFile } from '../telemetry/audit-file.js';
import { Audit } from '../telemetry/audit.js';
import type { Log } from '../telemetry/log.js';

const bareDigest =
  'auth.api_key is 64 hexadecimal digits: they are taken for the SHA-256 of a key in this release, and for a key in ' +
  'the next one; write `sha256:` before them';

export interface AuthenticationOptions extends Pick<SecurityOptions, 'isNode'> {
  config: Config;
  /** Whether HTTP threads take connections as well. */
  hasHttpThreads: boolean;
  log: Log;
  /** Whether web pages served from this machine may call the server. */
  loopbackOrigins: boolean;
  /** Called when the list of valid keys has changed. */
  onKeys: () => void;
  /** Called with the reason when a key is refused. The counters use it. */
  onRefused: (reason: Refusal) => void;
}

export class Authentication {
  readonly keys: Keyring;
  readonly accepted = new Accepted();
  readonly audit: Audit;
  readonly rules: SecurityRules;
  /** Rate counters that all threads share. Undefined with one HTTP thread. */
  readonly rates: SharedRates | undefined;
  readonly security: RequestGuard;
  readonly #use: KeyUse;

  /** Fails CONFIG_INVALID. */
  constructor(private readonly options: AuthenticationOptions) {
    const { config, log, isNode, hasHttpThreads } = options;
    this.keys = new Keyring(config.keysFile, config.auth.api_key);
    if (isBareDigest(config.auth.api_key)) log('warn', bareDigest);
    this.#use = new KeyUse(config.keysFile, this.accepted);
    this.audit = openAudit(config, log, this.keys);
    this.rules = rulesOf(options);
    const { rate_per_key, rate_per_address } = config.limits;
    this.rates = hasHttpThreads
      ? {
          rate_per_key: new SharedRate(rate_per_key),
          rate_per_address: new SharedRate(rate_per_address),
        }
      : undefined;
    this.security = new RequestGuard({
      ...this.rules,
      keys: this.keys,
      accepted: this.accepted,
      isNode,
      rateFor: (bound, limit) => this.rates?.[bound] ?? new OwnRate(limit),
      onAuthFailure: (reason, exchange) => this.#noteRefused(reason, exchange),
    });
  }

  #noteRefused(reason: Refusal, exchange: Exchange): void {
    this.options.onRefused(reason);
    const { path, requestId } = exchange;
    const peer = this.security.peer(exchange);
    if (reason === 'throttled') this.audit.noteThrottled(peer);
    if (reason !== 'wrong') return;
    const whose = { keyId: undefined, tenant: '', peer, path, route: 'other', requestId };
    this.audit.note({ event: 'refused', outcome: 'INVALID_API_KEY', ...whose });
  }

  /**
   * Reads the key file again if it has changed, and records which keys were used. Returns the ids of expired
   * keys.
   */
  runMaintenance(): string[] {
    const { log, onKeys } = this.options;
    try {
      if (this.keys.refresh()) {
        onKeys();
        log('info', 'key file reloaded');
      }
    } catch (error) {
      log('error', 'key file could not be read; the previous keys stay in force', { error });
    }
    this.#noteUse();
    this.audit.tick();
    return this.keys.expired(wallMs());
  }

  #noteUse(isLast = false): void {
    try {
      this.#use.note(this.keys.list, isLast);
    } catch (error) {
      this.options.log('warn', 'could not save when keys were last used', { error });
    }
  }

  /** Returns the warnings about access that are logged at start. */
  warnings(): string[] {
    const { config } = this.options;
    if (this.keys.closed)
      return [`nobody is answered: ${config.keysFile} holds no key; add one, or remove the file`];
    if (isLoopback(config.server.host)) return [];
    if (!this.keys.active) {
      return config.server.insecure_no_auth
        ? ['everyone may do everything: there are no keys']
        : ['protected mode: there are no API keys, so only this machine is answered'];
    }
    return config.tls.cert === '' ? ['API keys travel in clear text: TLS is off'] : [];
  }

  close(): void {
    this.#noteUse(true);
    this.audit.close();
  }
}

/** Opens the audit log of the server. Fails CONFIG_INVALID if its file cannot be written. */
function openAudit(config: Config, log: Log, keys: { readonly active: boolean }): Audit {
  const { file: name, rotate_bytes: rotateBytes, keep } = config.audit;
  const onError = (error: unknown): void =>
    log('error', 'audit log lines could not be written', { error });
  const path = resolve(config.projectDir, name);
  const file = name === '' ? undefined : new AuditFile({ path, rotateBytes, keep, onError });
  return new Audit({ file, log, hasKeys: () => keys.active, node: config.cluster.node });
}

function rulesOf({ config, loopbackOrigins }: AuthenticationOptions): SecurityRules {
  return {
    host: config.server.host,
    allowedHosts: config.server.allowed_hosts,
    corsOrigins: config.cors.origins,
    loopbackOrigins,
    insecureNoAuth: config.server.insecure_no_auth,
    trustProxy: config.server.trust_proxy,
    secure: config.tls.cert !== '',
    limits: config.limits,
  };
}
