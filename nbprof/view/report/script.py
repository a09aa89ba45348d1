"""The one script of a report: a click on a heading sorts the rows of its table, the folded ones too.

In: nothing. Out: `SCRIPT`. One listener on the document serves all reports of a page, whenever they arrive; a
second run finds the first one's mark and adds none. Stripped, the report is complete, only in its first order.
"""

from __future__ import annotations

SCRIPT = """
(function(){
if(typeof document==="undefined")return;
var here=document.currentScript,all=document.querySelectorAll(".nbprof-report");
if(here&&here.closest&&here.closest(".nbprof-report"))here.closest(".nbprof-report").classList.add("nbprof-live");
for(var i=0;i<all.length;i++)all[i].classList.add("nbprof-live");
if(document.nbprofSorts)return;
document.nbprofSorts=true;
document.addEventListener("click",function(event){
var head=event.target.closest&&event.target.closest(".nbprof-report .nbprof-sortable thead th");
if(!head)return;
var group=head.closest(".nbprof-sortable"),column=head.cellIndex;
var figures=head.classList.contains("nbprof-number")||head.classList.contains("nbprof-share");
var sorted=head.getAttribute("aria-sort"),up=sorted?sorted==="descending":!figures;
var bodies=group.querySelectorAll("tbody");
var rows=Array.from(group.querySelectorAll("tbody tr"));
var key=function(row){var cell=row.cells[column],value=cell.getAttribute("data-value");
return value===null?cell.textContent.trim().toLowerCase():value===""?null:parseFloat(value)};
rows=rows.map(function(row,order){return{row:row,order:order,key:key(row)}});
rows.sort(function(a,b){
if(a.key===null||b.key===null)return(a.key===null)-(b.key===null)||a.order-b.order;
return(a.key<b.key?-1:a.key>b.key?1:0)*(up?1:-1)||a.order-b.order});
var counts=Array.from(bodies,function(body){return body.rows.length}),next=0;
bodies.forEach(function(body,number){for(var k=0;k<counts[number];k++)body.appendChild(rows[next++].row)});
group.querySelectorAll("thead th").forEach(function(other){other.removeAttribute("aria-sort");
if(other.cellIndex===column)other.setAttribute("aria-sort",up?"ascending":"descending")});
});
})();
""".strip()
