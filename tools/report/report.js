// Tooltips of marks, legends that hide series, and the choice between light and dark. The page is readable without it.
(() => {
  const tip = document.getElementById('tip');
  let shown = null;

  const hide = () => {
    if (shown) shown.classList.remove('on');
    shown = null;
    tip.hidden = true;
  };

  const show = (mark, x, y) => {
    hide();
    shown = mark;
    mark.classList.add('on');
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(x + 12, innerWidth - box.width - 6)) + 'px';
    tip.style.top = (y > box.height + 20 ? y - box.height - 12 : y + 18) + 'px';
  };

  const onPointer = (event) => {
    const mark = event.target.closest && event.target.closest('[data-tip]');
    if (mark) show(mark, event.clientX, event.clientY);
    else hide();
  };
  document.addEventListener('pointermove', onPointer);
  document.addEventListener('pointerdown', onPointer);
  addEventListener('scroll', hide, {passive: true});

  for (const button of document.querySelectorAll('.legend button')) {
    button.addEventListener('click', () => {
      const visible = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', visible);
      const series = button.closest('figure').querySelector(`svg [data-series="${button.dataset.series}"]`);
      series.classList.toggle('off', !visible);
    });
  }

  const root = document.documentElement;
  const theme = document.getElementById('theme');
  const isDark = () => (root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const label = () => { theme.textContent = isDark() ? 'light' : 'dark'; };
  theme.hidden = false;
  theme.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; label(); });
  label();
})();
