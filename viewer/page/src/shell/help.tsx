// SPDX-License-Identifier: Apache-2.0
import { Dialog } from '../ui/dialog';
import { groups } from '../ui/keys';

const names: Record<string, string> = { ' ': 'Space', ArrowDown: '↓', ArrowUp: '↑', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc' };

const cardKeys = [
  ['+ −', 'Zoom'],
  ['← →', 'Pan'],
  ['Enter', 'Enlarge, or back'],
  ['p', 'Pin to the front'],
] as const;

/** A dialog that lists the keys that work at present. */
export function Help({ onClose }: { onClose: () => void }) {
  const curves = groups.value.some((group) => group.title === 'Curves');
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="keys">
        {groups.value.map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl>
              {group.keys.map((key) => (
                <div key={key.key}>
                  <dt>
                    <kbd>{names[key.key] ?? (key.key.length === 1 && key.key !== key.key.toLowerCase() ? `Shift ${key.key}` : key.key)}</kbd>
                  </dt>
                  <dd>{key.help}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        {curves && (
          <section>
            <h3>The card that has the focus</h3>
            <dl>
              {cardKeys.map(([key, help]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{help}</dd>
                </div>
              ))}
            </dl>
          </section>
        )}
      </div>
      <p class="hint">Tab reaches everything, Enter presses it.</p>
    </Dialog>
  );
}
