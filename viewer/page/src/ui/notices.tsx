// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { Button } from './parts';

interface Notice {
  number: number;
  text: string;
  kind: 'good' | 'bad';
}

const notices = signal<Notice[]>([]);
let next = 1;

/** Shows the user the result of an action. A success message disappears after some time. An error message remains
 * until the user closes it. */
export function notify(text: string, kind: Notice['kind'] = 'good'): void {
  const number = next++;
  notices.value = [...notices.value.slice(-3), { number, text, kind }];
  if (kind === 'good') setTimeout(() => drop(number), 5000);
}

const drop = (number: number): void => {
  notices.value = notices.value.filter((one) => one.number !== number);
};

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <div key={notice.number} class={`notice ${notice.kind}`}>
          <span>{notice.text}</span>
          <Button label="Dismiss" icon="close" iconOnly quiet onPress={() => drop(notice.number)} />
        </div>
      ))}
    </div>
  );
}
