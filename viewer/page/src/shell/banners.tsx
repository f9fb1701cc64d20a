// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { run } from '../state/place';
import { connection, hello, lastHeard, mismatch } from '../state/session';
import { Button } from '../ui/parts';

/** Messages that concern the whole page: that the connection is lost, or why the run has ended. */
export function Banners() {
  return (
    <>
      {mismatch.value && (
        <div class="banner bad" role="alert">
          {mismatch.value}
        </div>
      )}
      <Lost />
      <Over />
    </>
  );
}

function Lost() {
  const link = connection.link.value;
  const waiting = link.kind === 'waiting' ? link : null;
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!waiting) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [waiting]);
  if (link.kind === 'open' || (link.kind === 'connecting' && link.attempt === 0)) return null;
  const seconds = waiting ? Math.max(0, Math.ceil((waiting.until - Math.max(now, Date.now() - 500)) / 1000)) : 0;
  const seen = lastHeard.value ? ` What you see is from ${new Date(lastHeard.value).toLocaleTimeString('en-GB')}.` : '';
  return (
    <div class="banner bad" role="alert">
      <span>
        {waiting?.refused ? (
          <>The server does not let this page in any more. Open the address that 'trainyard view' has printed.</>
        ) : (
          <>
            <strong>{hello.value ? 'The server is gone.' : 'The server does not answer.'}</strong>
            {seen} Is 'trainyard view' still running?
          </>
        )}
      </span>
      <span class="spacer" />
      <span class="hint">{waiting ? `trying again in ${seconds} s` : 'trying again …'}</span>
      <Button label="Try now" onPress={() => connection.connect()} />
    </div>
  );
}

function Over() {
  const shown = run.value;
  if (!shown || !(shown.state === 'failed' || shown.state === 'killed')) return null;
  return (
    <div class="banner bad" role="alert">
      <span>
        <strong>
          <bdi>{shown.run}</bdi> {shown.state === 'killed' ? 'was killed' : 'has failed'}.
        </strong>{' '}
        <bdi>{shown.message}</bdi>
      </span>
    </div>
  );
}
