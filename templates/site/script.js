// Finds units as you type: everything else on the pages works without it.
(function () {
  "use strict";
  var form = document.querySelector("form.find");
  var input = form.querySelector("input");
  var output = form.querySelector("output");
  var units = Array.prototype.slice.call(document.querySelectorAll("li.unit"));
  var folds = Array.prototype.slice.call(document.querySelectorAll(".tree details"));
  var opened = folds.map(function (fold) { return fold.open; });
  form.hidden = false;
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  input.addEventListener("input", function () {
    var wanted = input.value.trim().toLowerCase();
    var found = 0;
    units.forEach(function (unit) { unit.hidden = wanted !== ""; });
    folds.forEach(function (fold, index) { fold.open = wanted === "" ? opened[index] : false; });
    if (wanted !== "") {
      units.forEach(function (unit) {
        if (unit.dataset.name.toLowerCase().indexOf(wanted) === -1) { return; }
        found += 1;
        unit.querySelectorAll("li.unit").forEach(function (below) { below.hidden = false; });
        for (var at = unit; at && at.matches; at = at.parentElement) {
          if (at.matches("li.unit")) { at.hidden = false; }
          if (at.matches("details")) { at.open = true; }
        }
      });
    }
    output.textContent = wanted === "" ? "" : found === 1 ? "1 match" : found + " matches";
  });
})();
